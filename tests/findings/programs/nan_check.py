"""A check for NaN before each backward pass."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
x = torch.randn(8, 4, device=device)
for step in range(6):
    loss = model(x).square().mean()
    if torch.isnan(loss):  # expect SP106, no SP103
        break
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
