"""Exploration decided by a branch on the device's numbers."""

import torch

device = torch.device("cuda")
actions = torch.zeros(16, dtype=torch.long, device=device)
for step in range(6):
    explore = torch.rand(16, device=device) < 0.1
    random_actions = torch.randint(0, 3, (16,), device=device)
    if explore.any():  # expect SP106
        actions = torch.where(explore, random_actions, actions)  # no SP304, no SP106
