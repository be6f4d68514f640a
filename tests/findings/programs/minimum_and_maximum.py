"""Two reads on one line."""

import torch

device = torch.device("cuda")
levels = torch.randn(64, device=device)
ranges = []
for step in range(6):
    levels = levels + torch.randn_like(levels)
    ranges.append((levels.min().item(), levels.max().item()))  # expect SP104, no SP100
