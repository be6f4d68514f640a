"""The norm of each gradient, computed parameter by parameter."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
x = torch.randn(8, 4, device=device)
for update in range(4):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    total = torch.zeros((), device=device)  # expect SP403
    for parameter in model.parameters():
        total += parameter.grad.square().sum()  # expect SP503, no SP502
    optimizer.step()
