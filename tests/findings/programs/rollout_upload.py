"""Observations uploaded while acting are no batch of an update."""

import numpy as np
import torch
from torch import nn

device = torch.device("cuda")
policy = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1, fused=True)


class Env:
    def step(self, action):
        return np.random.randn(4).astype(np.float32)


env = Env()
for episode in range(3):
    observation, scores = np.zeros(4, dtype=np.float32), []
    for step in range(4):
        logits = policy(torch.tensor(observation, device=device))  # expect SP401, no SP204
        scores.append(logits.max())
        observation = env.step(int(logits.argmax()))  # expect SP207, no SP101
    optimizer.zero_grad()
    torch.stack(scores).sum().backward()
    optimizer.step()
