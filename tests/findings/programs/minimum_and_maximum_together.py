"""The same two numbers in one read."""

import torch

device = torch.device("cuda")
levels = torch.randn(64, device=device)
ranges = []
for step in range(6):
    levels = levels + torch.randn_like(levels)
    ranges.append(torch.stack(levels.aminmax()).tolist())  # expect SP200, no SP104
