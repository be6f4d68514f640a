"""DQN by stable-baselines3."""
# syncs per step: 50/4
# first blamed line: model.learn(total_timesteps=40)

import sys

from stable_baselines3 import DQN

model = DQN(
    "MlpPolicy",
    "CartPole-v1",
    learning_starts=20,
    batch_size=8,
    train_freq=4,
    target_update_interval=20,
    device=sys.argv[1],
    seed=42,
)
model.learn(total_timesteps=40)
print(sum(weight.abs().sum().item() for weight in model.policy.parameters()))
env = model.get_env()
state = env.reset()
for _ in range(5):
    action, _ = model.predict(state, deterministic=True)
    state, reward, _, _ = env.step(action)
    print(action, state, reward)
