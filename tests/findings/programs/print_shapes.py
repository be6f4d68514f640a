"""Printing what the host knows anyway."""

import torch

device = torch.device("cuda")
weights = torch.zeros(4, 4, device=device)
for step in range(5):
    weights = weights @ weights + 1
    print(step, weights.shape, weights.device, weights.dtype)  # no SP105, no SP100
