"""A check that a target network still equals its source."""

import torch
from torch import nn

device = torch.device("cuda")
online, target = nn.Linear(4, 2).to(device), nn.Linear(4, 2).to(device)
for update in range(5):
    is_equal = online.weight.equal(target.weight)  # expect SP309
    with torch.no_grad():
        target.weight.copy_(online.weight)  # no SP503
