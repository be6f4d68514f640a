"""A router sends tokens to the best two of four experts, expert by expert."""
# syncs per step: 6
# first blamed line: rows, places = torch.where(chosen == number)

import sys

import torch
import torch.nn.functional as F
from torch import nn

device = sys.argv[1]
torch.manual_seed(20)


class Mixture(nn.Module):
    def __init__(self, width=16, experts=4):
        super().__init__()
        self.router = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 32), nn.SiLU(), nn.Linear(32, width))
            for _ in range(experts)
        )

    def forward(self, x):
        chances = self.router(x).softmax(-1)
        weights, chosen = chances.topk(2, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        result = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            rows, places = torch.where(chosen == number)
            result.index_add_(0, rows, expert(x[rows]) * weights[rows, places, None])
        shares = F.one_hot(chosen[:, 0], len(self.experts)).float().mean(0)
        return result, (shares * chances.mean(0)).sum() * len(self.experts)


model = Mixture().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=False)
x = torch.randn(48, 16, device=device)
for step in range(8):
    y, balance = model(x)
    loss = F.mse_loss(y, x.roll(1, dims=1)) + 0.01 * balance
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), balance.item())
