"""Comparisons whose answer stays on the device, and of things the host knows."""

import torch

device = torch.device("cuda")
values = torch.rand(16, device=device)
moved = torch.zeros((), dtype=torch.bool, device=device)
for sweep in range(6):
    new = 0.5 * values
    moved = moved | (new != values).any()  # no SP309, no SP106
    near = torch.isclose(new, values).all()  # no SP309
    if new.shape == values.shape and new.dtype is values.dtype:  # no SP309, no SP106
        values = torch.where(near, values, new)
