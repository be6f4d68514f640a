"""A generator's noise drawn on the host, with .cuda()."""

import torch
from torch import nn

generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8)).cuda()
critic = nn.Linear(8, 1).cuda()
optimizer = torch.optim.Adam(generator.parameters(), fused=True)
for batch in range(5):
    latent = torch.randn(16, 4).cuda()  # expect SP205, no SP204, no SP206
    loss = -critic(generator(latent)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
