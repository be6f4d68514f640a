"""Masks used as numbers, and slices that are no masks."""

import torch

device = torch.device("cuda")
x = torch.randn(32, 4, device=device)
for update in range(5):
    valid = x > 0
    loss = (x * valid).sum() / valid.sum()  # no SP302
    x = torch.where(valid, x - 0.01 * loss, x)  # no SP303, no SP304
    x = x.masked_fill(x > 2, 2.0)  # no SP303, no SP108
    x[:, 0] = 0.0  # no SP303, no SP203
    x[1:3] += 1  # no SP303
