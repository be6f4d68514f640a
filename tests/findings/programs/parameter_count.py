"""A loop over parameters that asks only what the host knows."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).to(device)
x = torch.randn(8, 4, device=device)
for update in range(4):
    x = x + 0.1 * model(x).detach()
    count = sum(parameter.numel() for parameter in model.parameters())  # no SP503
    for parameter in model.parameters():
        parameter.requires_grad_(False)  # no SP503
