"""The same batch through a network with dropout, several times."""

import torch
from torch import nn

device = torch.device("cuda")
net = nn.Sequential(nn.Linear(4, 16), nn.Dropout(0.1), nn.Linear(16, 1)).to(device).train()
x = torch.randn(16, 4, device=device)
with torch.no_grad():
    for batch in range(3):
        draws = [net(x) for _ in range(6)]  # expect SP502, no SP501
        spread = torch.stack(draws).std(0)
        x = x + 0.01 * spread
