"""Losses that the caller keeps: they could be read later, but they are used."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
x = torch.randn(8, 4, device=device)
best = float("inf")


def train_step():
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach().cpu().numpy()  # expect SP103, no SP102


for step in range(6):
    best = min(best, train_step())
