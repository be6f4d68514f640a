"""Priorities of a replay memory set from the errors of a batch, one read each."""

import torch
from torch import nn

device = torch.device("cuda")
critic = nn.Linear(4, 1).to(device)
optimizer = torch.optim.Adam(critic.parameters(), fused=True)
memory = torch.randn(64, 4, device=device)
priorities = [1.0] * 64


def learn(rows):
    errors = critic(memory[rows]).squeeze(1)
    loss = errors.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for row, index in enumerate(rows.tolist()):  # expect SP103, no SP201
        priorities[index] = errors[row].abs().item()  # expect SP101, no SP103


for update in range(4):
    learn(torch.randint(0, 64, (16,), device=device))
