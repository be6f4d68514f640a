"""The bounds of a categorical projection moved apart through masks."""

import torch

device = torch.device("cuda")
for update in range(5):
    b = torch.rand(8, 5, device=device) * 4
    lower, upper = b.floor().long(), b.ceil().long()
    lower[(upper > 0) & (lower == upper)] -= 1  # expect SP303, no SP302
    upper[(lower < 4) & (lower == upper)] += 1  # expect SP303, no SP302
