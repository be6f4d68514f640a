"""Rows of a replay memory found by their cumulated priorities, in an order of their own."""

import torch

device = torch.device("cuda")
priorities = torch.rand(64, device=device)
for update in range(5):
    order = priorities.argsort()
    draws = torch.rand(8, device=device)
    rows = torch.searchsorted(priorities, draws, sorter=order)  # expect SP300, no SP304
    plain = torch.searchsorted(priorities[order], draws)  # no SP203
    priorities = priorities + 0.001 * (rows + plain).float().mean()
