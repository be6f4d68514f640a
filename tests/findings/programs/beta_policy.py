"""A Beta policy whose constructor and log_prob check their arguments."""

import torch
from torch import nn
from torch.distributions import Beta

device = torch.device("cuda")
net = nn.Linear(4, 2).to(device)
x = torch.randn(8, 4, device=device)
with torch.no_grad():
    for step in range(4):
        a, b = (net(x).exp() + 1).unbind(1)
        dist = Beta(a, b)  # expect SP301, no SP106
        entropy = dist.log_prob(torch.full_like(a, 0.5))  # expect SP301, no SP403
