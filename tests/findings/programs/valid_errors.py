"""The errors of valid entries, chosen by a mask."""

import torch

device = torch.device("cuda")
x = torch.randn(32, device=device)
for update in range(5):
    valid = x > 0
    loss = x[valid].square().sum()  # expect SP302, no SP303, no SP203
    x = x - 0.01 * loss
