"""A loop of forwards with a batch of eight, as a first benchmark is written."""

import torch
from torch import nn

device = "cuda"
net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2)).to(device)
for step in range(20):
    x = torch.randn(8, 4, device=device)
    y = net(x)  # no SP501, no SP502
    result = y.cpu()  # expect SP200, no SP201
print(result.shape)
