"""A vote of a few networks: sequences this short are not waited for."""

import torch
from torch import nn

device = torch.device("cuda")
networks = [nn.Linear(4, 3).to(device) for _ in range(3)]
x = torch.randn(8, 4, device=device)
with torch.no_grad():
    for batch in range(4):
        votes = torch.stack([net(x).argmax(1) for net in networks])  # no SP501, no SP107
        winner = torch.mode(votes, dim=0).values  # no SP300
        x = x + winner.unsqueeze(1)
