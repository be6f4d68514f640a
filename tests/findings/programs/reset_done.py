"""Environments that are done set back through a mask."""

import torch

device = torch.device("cuda")
state = torch.zeros(16, 4, device=device)
for step in range(5):
    state = state + torch.randn(16, 4, device=device)
    done = state[:, 0].abs() > 1
    state[done] = torch.zeros_like(state[done])  # expect SP303, expect SP302
