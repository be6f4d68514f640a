"""DQN in a single loop: act, step, store, learn."""

import random

import numpy as np
import torch
from torch import nn


class CartPole:
    def step(self, action):
        return np.random.randn(4).astype(np.float32), 1.0, random.random() < 0.1


device = torch.device("cuda")
q_net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
optimizer = torch.optim.Adam(q_net.parameters())
env, memory = CartPole(), []
state, _, _ = env.step(0)
for step in range(24):
    with torch.no_grad():
        values = q_net(torch.from_numpy(state).to(device))  # expect SP206, no SP501
    action = values.argmax().item()  # expect SP207
    next_state, reward, done = env.step(action)
    memory.append((state, action, reward, next_state))
    state = next_state
    if len(memory) >= 8:
        states, actions, rewards, _ = zip(*random.sample(memory, 8))
        states = torch.tensor(np.array(states)).to(device)  # expect SP204, no SP401
        rewards = torch.tensor(rewards).to(device)  # expect SP204
        loss = (q_net(states).max(dim=1).values - rewards).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # expect SP504
