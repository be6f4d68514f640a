"""Validation switched off once for the whole program."""

import torch
from torch import nn
from torch.distributions import Distribution, Normal

Distribution.set_default_validate_args(False)
device = torch.device("cuda")
net = nn.Linear(4, 2).to(device)
x = torch.randn(8, 4, device=device)
with torch.no_grad():
    for step in range(4):
        dist = Normal(net(x), 1.0)  # expect SP402, no SP301
        log_prob = dist.log_prob(dist.rsample())  # no SP301, no SP305
Distribution.set_default_validate_args(True)
