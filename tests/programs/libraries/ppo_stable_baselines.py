"""PPO by stable-baselines3."""
# syncs per step: 190/7
# first blamed line: model.learn(

import sys

from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

envs = make_vec_env("CartPole-v1", n_envs=2, seed=7)
model = PPO("MlpPolicy", envs, n_steps=16, batch_size=16, n_epochs=2, device=sys.argv[1], seed=7)
model.learn(total_timesteps=64)
print(sum(weight.abs().sum().item() for weight in model.policy.parameters()))
state = envs.reset()
for _ in range(5):
    action, _ = model.predict(state, deterministic=True)
    state, reward, done, _ = envs.step(action)
    print(action, state, reward)
