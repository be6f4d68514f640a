"""The most frequent token of a long sequence, by an operation that waits for long ones."""

import torch

device = torch.device("cuda")
total = torch.zeros((), dtype=torch.long, device=device)
for step in range(5):
    tokens = torch.randint(0, 40, (4096,), device=device)
    total += tokens.mode().values  # expect SP300, no SP304
