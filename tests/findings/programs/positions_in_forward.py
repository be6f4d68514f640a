"""A transformer that makes its positions again in each forward."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(20, 8), nn.Embedding(16, 8)

    def forward(self, ids):
        positions = torch.arange(ids.shape[1], device=ids.device)  # expect SP402, no SP403
        return self.tokens(ids) + self.positions(positions)


device = torch.device("cuda")
encoder = Encoder().to(device)
ids = torch.randint(0, 20, (4, 6), device=device)
with torch.no_grad():
    for batch in range(4):
        encoder(ids)
