"""Rows of a replay memory drawn by priority, by a torch that checks them on the host."""
# torch before 2.5

import torch

device = torch.device("cuda")
priorities = torch.rand(64, device=device)
for update in range(5):
    rows = torch.multinomial(priorities, 8)  # expect SP307
    added = torch.ones_like(rows).float()  # expect SP403
    priorities = priorities.index_add(0, rows, added)  # no SP203
