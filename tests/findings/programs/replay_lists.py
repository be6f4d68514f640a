"""A replay memory of lists: each field of each batch is built and uploaded."""

import random

import torch
from torch import nn

device = torch.device("cuda")
critic = nn.Linear(4, 1).to(device)
optimizer = torch.optim.Adam(critic.parameters(), fused=True)
memory = [([random.random() for _ in range(4)], random.random()) for _ in range(50)]


def sample(size):
    states, rewards = zip(*random.sample(memory, size))
    return (
        torch.tensor(states).to(device),  # expect SP204, no SP401
        torch.tensor(rewards).to(device),  # expect SP204
    )


for update in range(5):
    states, rewards = sample(8)
    loss = (critic(states).squeeze(1) - rewards).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
