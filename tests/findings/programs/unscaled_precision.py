"""Reduced precision without a scaler: bfloat16 needs none."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(16, 8, device=device)
for batch in range(4):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # no SP308, no SP504
