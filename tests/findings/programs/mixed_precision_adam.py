"""Adam behind a scaler, with gradients clipped."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)).to(device)
optimizer = torch.optim.Adam(model.parameters())
scaler = torch.amp.GradScaler("cuda")
x = torch.randn(16, 8, device=device)


def step():
    optimizer.zero_grad(set_to_none=True)
    loss = model(x).square().mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)  # expect SP308, no SP504
    scaler.update()


for batch in range(4):
    step()
