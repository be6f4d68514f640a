"""Weights handed to a plotting function of the host every few updates."""

import torch

device = torch.device("cuda")
weights = torch.zeros(16, device=device)
snapshots = []
for update in range(8):
    weights = weights + torch.randn(16, device=device)
    if update % 2 == 0:
        snapshots.append(weights.cpu().numpy())  # expect SP200, no SP201
