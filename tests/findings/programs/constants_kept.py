"""Constants that are made once, as buffers of a module."""

import torch
from torch import nn


class Projection(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.linspace(0, 1, 8))  # no SP402
        self.register_buffer("mean", torch.tensor([0.5]))  # no SP400, no SP402

    def forward(self, values):
        return values + self.offset - self.mean  # no SP402


device = torch.device("cuda")
projection = Projection().to(device)  # no SP206
values = torch.zeros(8, device=device)
for update in range(5):
    values = projection(values)
