"""Acts first, learns later: one update per environment step once the memory is filled."""

import random

import gymnasium as gym
import numpy as np
import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"


class Walk(gym.Env):
    observation_space = gym.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(2, np.float32), {}

    def step(self, action):
        return np.full(2, action, np.float32), float(action), False, False, {}


env = Walk()
online, target = (nn.Linear(2, 2).to(device) for _ in range(2))
optimizer = torch.optim.SGD(online.parameters(), lr=0.1)
memory = []
observation, _ = env.reset(seed=0)
for step in range(20):
    with torch.no_grad():
        action = int(online(torch.as_tensor(observation, device=device)).argmax())
    following, reward, *_ = env.step(action)
    memory.append((observation, action, reward, following))
    observation = following
    if len(memory) >= 10:
        states, taken, rewards, others = zip(*random.sample(memory, 4), strict=True)
        values = online(torch.tensor(np.array(states), device=device))
        chosen = values.gather(1, torch.tensor(taken, device=device)[:, None]).squeeze(1)
        with torch.no_grad():
            ahead = target(torch.tensor(np.array(others), device=device)).max(1).values
        wanted = torch.tensor(rewards, device=device) + 0.9 * ahead
        loss = nn.functional.mse_loss(chosen, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
