"""A scaler whose optimizer takes the overflow flag on the device; and one that is off."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(8, 1).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=True)
scaler = torch.amp.GradScaler("cuda")
off = torch.amp.GradScaler("cuda", enabled=False)
x = torch.randn(16, 8, device=device)
for batch in range(4):
    optimizer.zero_grad()
    scaler.scale(model(x).square().mean()).backward()
    scaler.step(optimizer)  # no SP308, no SP504
    scaler.update()
    optimizer.zero_grad()
    off.scale(model(x).square().mean()).backward()
    off.step(optimizer)  # no SP308
    off.update()
