"""The loss formatted in an f-string."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
x = torch.randn(8, 4, device=device)
lines = []
for batch in range(5):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    lines.append(f"loss {loss:.3f}")  # expect SP105, no SP103
