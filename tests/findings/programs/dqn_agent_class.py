"""DQN as an agent with act() and learn(), the way tutorials split it."""

import random
from collections import deque

import numpy as np
import torch
from torch import nn

device = torch.device("cuda")


class Agent:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
        self.target = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
        self.optimizer = torch.optim.Adam(self.net.parameters(), fused=True)
        self.memory = deque(maxlen=100)

    def act(self, state, epsilon=0.1):
        if random.random() < epsilon:
            return random.randrange(2)
        state = torch.tensor(state, dtype=torch.float32, device=device)  # expect SP401
        with torch.no_grad():
            return self.net(state).argmax().item()  # expect SP207, no SP100

    def learn(self):
        batch = random.sample(self.memory, 8)
        states = torch.tensor(np.stack([b[0] for b in batch])).to(device)  # expect SP204
        actions = torch.tensor([b[1] for b in batch], device=device)  # expect SP204
        chosen = self.net(states).gather(1, actions.unsqueeze(1))  # no SP203
        loss = chosen.square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        for mine, theirs in zip(self.target.parameters(), self.net.parameters()):
            mine.data.copy_(0.01 * theirs.data + 0.99 * mine.data)  # expect SP503
        return loss.item()  # expect SP102


class Env:
    def reset(self):
        return np.zeros(4, dtype=np.float32)

    def step(self, action):
        return np.random.randn(4).astype(np.float32), 1.0, False


agent, env = Agent(), Env()
state = env.reset()
for step in range(20):
    action = agent.act(state)
    next_state, reward, done = env.step(action)
    agent.memory.append((state, action, reward))
    state = next_state
    if step >= 10:
        agent.learn()
