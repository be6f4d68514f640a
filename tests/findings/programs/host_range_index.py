"""The chosen action's value, indexed with a range and a list of the host."""

import torch

device = torch.device("cuda")
values = torch.randn(8, 3, device=device)
actions = torch.randint(0, 3, (8,), device=device)
for update in range(5):
    chosen = values[range(8), actions]  # expect SP203, no SP302
    values = values + chosen.unsqueeze(1)
