"""A selection by name instead of by subscript."""

import torch

device = torch.device("cuda")
rewards = torch.randn(32, device=device)
for step in range(4):
    positive = torch.masked_select(rewards, rewards > 0)  # expect SP304, no SP302
    rewards = rewards - positive.mean()
    repeated = torch.repeat_interleave(rewards, torch.ones_like(rewards).long())  # expect SP304
