"""Three metrics of an update, each read by itself into a dictionary."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=True)
x = torch.randn(16, 4, device=device)
history = []
for update in range(5):
    policy, value = model(x).unbind(1)
    losses = {"policy": policy.mean(), "value": value.square().mean()}
    total = sum(losses.values())
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    history.append({name: loss.item() for name, loss in losses.items()})  # expect SP103, no SP101
