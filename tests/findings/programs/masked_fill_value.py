"""A mask filled with a value that lives on the device."""

import torch

device = torch.device("cuda")
scores = torch.randn(8, 8, device=device)
mask = torch.ones(8, 8, dtype=torch.bool, device=device).triu(1)
lowest = torch.full((), -1e9, device=device)
for step in range(5):
    hidden = scores.masked_fill(mask, lowest)  # expect SP108, no SP303
    shown = scores.masked_fill(mask, -1e9)  # no SP108
    scores = hidden.softmax(-1) + shown.softmax(-1)
