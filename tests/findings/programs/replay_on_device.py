"""A replay memory on the device: sampling takes indices that are drawn there."""

import torch
from torch import nn

device = torch.device("cuda")
critic = nn.Linear(4, 1).to(device)
optimizer = torch.optim.Adam(critic.parameters(), fused=True)
states = torch.randn(64, 4, device=device)
for update in range(5):
    rows = torch.randint(0, 64, (8,), device=device)  # no SP205, no SP402
    loss = critic(states[rows]).square().mean()  # no SP203, no SP204
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
