"""Casts and moves that leave a tensor where it is."""

import torch

device = torch.device("cuda")
x = torch.randn(8, 8, device=device)
for update in range(5):
    y = x.to(torch.float64).to(device)  # no SP200, no SP206
    x = (y @ y).float().to("cuda", non_blocking=True).clamp(-1, 1)  # no SP200, no SP202
