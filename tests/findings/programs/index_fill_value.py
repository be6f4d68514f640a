"""Rows filled with a value that lives on the device."""

import torch

device = torch.device("cuda")
table = torch.zeros(8, 4, device=device)
rows = torch.tensor([1, 3], device=device)
value = torch.ones((), device=device)
for step in range(5):
    table = table.index_fill(0, rows, value)  # expect SP108
    table = table.index_fill(0, rows, 1.0)  # no SP108
