"""RMSprop, as Atari agents have it."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.RMSprop(model.parameters(), lr=2.5e-4)
x = torch.randn(8, 4, device=device)
for update in range(5):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # expect SP504
