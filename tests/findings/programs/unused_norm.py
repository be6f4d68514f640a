"""A gradient norm read for a log line that was deleted since."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
x = torch.randn(8, 4, device=device)


def train_step():
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0).item()  # expect SP102, no SP108
    optimizer.step()


for step in range(6):
    train_step()
