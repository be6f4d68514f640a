"""A loop that stops when nothing changes any more."""

import torch

device = torch.device("cuda")
values = torch.rand(16, device=device)
for sweep in range(6):
    new = 0.5 * values
    if torch.equal(new, values):  # expect SP309, no SP106
        break
    values = new
