"""Rollouts in an environment, then several epochs of updates."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"


class Corridor(gym.Env):
    observation_space = gym.spaces.Box(-1, 1, (4,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(4, np.float32), {}

    def step(self, action):
        return np.full(4, action, np.float32), 1.0, False, False, {}


env = gym.wrappers.TimeLimit(Corridor(), 8)
policy = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).to(device)
optimizer = torch.optim.Adam(policy.parameters())
observation, _ = env.reset(seed=1)
for update in range(3):
    observations, actions = [], []
    for _ in range(8):
        tensor = torch.as_tensor(observation, device=device)
        with torch.no_grad():
            action = torch.distributions.Categorical(logits=policy(tensor)).sample()
        observations.append(tensor)
        actions.append(action)
        observation, reward, terminated, truncated, _ = env.step(action.item())
        if terminated or truncated:
            observation, _ = env.reset()
    batch, taken = torch.stack(observations), torch.stack(actions)
    for _ in range(4):
        loss = -torch.distributions.Categorical(logits=policy(batch)).log_prob(taken).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
