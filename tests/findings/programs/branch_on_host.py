"""Branches that the host decides alone."""

import random

import torch

device = torch.device("cuda")
actions = torch.zeros(16, dtype=torch.long, device=device)
bonus = None
for step in range(6):
    if random.random() < 0.5:  # no SP106
        actions = torch.randint(0, 3, (16,), device=device)  # no SP205
    if bonus is None and actions.numel() > 4:  # no SP106
        bonus = torch.ones(16, device=device)
    actions = actions + bonus.long()
