"""A policy that is updated only once: what that costs is mostly what the first step of an optimizer makes."""

import torch
from torch import nn

device = torch.device("cuda")
policy = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
optimizer = torch.optim.Adam(policy.parameters())
states = torch.randn(8, 4, device=device)
for _ in range(3):
    values = policy(states)
loss = values.square().mean()
loss.backward()
optimizer.step()  # no SP504
