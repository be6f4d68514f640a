"""Gradients clipped with a check for infinities."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
x = torch.randn(8, 4, device=device)
for step in range(5):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)  # expect SP108
    optimizer.step()
