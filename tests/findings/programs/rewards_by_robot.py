"""Rewards of a vectorised environment on the device, read environment by environment."""

import torch

device = torch.device("cuda")
positions = torch.zeros(12, device=device)
totals = [0.0] * 12
for step in range(5):
    positions = positions + torch.randn(12, device=device)
    rewards = -positions.abs()
    for index in range(len(totals)):
        totals[index] += float(rewards[index])  # expect SP101, no SP100, no SP502
print(max(totals))
