"""A deep network: many layers of one forward are no loop over samples."""

import torch
from torch import nn


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(6))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))  # no SP501, no SP502
        return x


device = torch.device("cuda")
net = Deep().to(device)
x = torch.randn(16, 8, device=device)
with torch.no_grad():
    for batch in range(4):
        x = net(x)
