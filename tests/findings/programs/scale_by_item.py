"""A number read from the device only to go back there in the next expression."""

import torch

device = torch.device("cuda")
observations = torch.randn(32, 4, device=device)
variance = torch.ones(4, device=device)
for step in range(6):
    variance = 0.9 * variance + 0.1 * observations.var(dim=0)
    scale = variance.mean().sqrt().item()  # expect SP100, no SP103
    observations = observations / scale + torch.randn_like(observations)
