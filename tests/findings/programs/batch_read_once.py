"""The whole batch read once, then looked at on the host."""

import torch

device = torch.device("cuda")
positions = torch.zeros(12, device=device)
totals = [0.0] * 12
for step in range(5):
    positions = positions + torch.randn(12, device=device)
    for index, reward in enumerate((-positions.abs()).tolist()):  # expect SP200, no SP201
        totals[index] += float(reward)  # no SP101
print(max(totals))
