"""Discounted returns computed in Python and kept in a host tensor."""

import torch

device = torch.device("cuda")
weights = torch.zeros(5, device=device)


def discounted(rewards, gamma=0.99):
    total, returns = 0.0, []
    for reward in reversed(rewards):
        total = reward + gamma * total
        returns.insert(0, total)
    return torch.tensor(returns)  # expect SP400, no SP107, no SP401


for episode in range(4):
    returns = discounted([1.0] * 5)
    scaled = (returns - returns.mean()) / returns.std()
    weights += 1
