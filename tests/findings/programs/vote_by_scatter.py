"""The same counted with an operation that does not."""

import torch

device = torch.device("cuda")
total = torch.zeros((), dtype=torch.long, device=device)
counts = torch.zeros(4, dtype=torch.long, device=device)
one = torch.ones(9, dtype=torch.long, device=device)
for step in range(5):
    votes = torch.randint(0, 4, (9,), device=device)
    total += counts.zero_().scatter_add_(0, votes, one).argmax()  # no SP300
