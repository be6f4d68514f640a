"""A scheduler is no environment: the loss it is given is a metric."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
x = torch.randn(8, 4, device=device)
for epoch in range(5):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step(loss.item())  # expect SP103, no SP207
