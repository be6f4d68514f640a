"""Targets as a list of device scalars, made into an array of the host and back."""

import torch

device = torch.device("cuda")
for update in range(4):
    value = torch.randn(6, device=device)
    rewards = torch.FloatTensor([value[0], value[1], value[2]])  # expect SP107, no SP101
    target = rewards * 0.99
