"""Values put in through a mask from a second tensor."""

import torch

device = torch.device("cuda")
values, limits = torch.randn(32, device=device), torch.ones(32, device=device)
for step in range(5):
    values = values * 1.1
    over = values > limits
    values[over] = limits[over]  # expect SP303, expect SP302
    values[values < -1] = -1.0  # no SP303
