"""Draws on the device; one on the host that stays there."""

import torch

device = torch.device("cuda")
x = torch.zeros(8, device=device)
for step in range(5):
    noise = torch.randn(8, device=device)  # no SP205
    threshold = torch.rand(1)  # no SP205
    x = x + noise * (0.5 if threshold.item() < 0.5 else 1.0)  # no SP100, no SP106
