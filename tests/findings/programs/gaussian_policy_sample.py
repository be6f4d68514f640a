"""A Gaussian policy that samples, as most first implementations do."""

import torch
from torch import nn
from torch.distributions import Normal


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Linear(4, 2)

    def forward(self, x):
        dist = Normal(self.mean(x), 0.5, validate_args=False)  # expect SP402, no SP401
        return dist.sample()  # expect SP305, no SP307


device = torch.device("cuda")
actor = Actor().to(device)
x = torch.randn(8, 4, device=device)
with torch.no_grad():
    for step in range(5):
        x = torch.cat((actor(x), actor(x)), dim=1)  # no SP305
