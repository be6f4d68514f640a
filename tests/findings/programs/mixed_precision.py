"""Mixed precision with a scaler and an optimizer that is not fused."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
x = torch.randn(16, 8, device=device)
for batch in range(4):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)  # expect SP308, no SP106
    scaler.update()  # no SP308
