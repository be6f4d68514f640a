"""Draws without a check: noise and an argmax; greedy tokens."""

import torch

device = torch.device("cuda")
logits = torch.randn(8, 20, device=device)
for step in range(5):
    noise = -torch.empty_like(logits).exponential_().log()
    drawn = (logits + noise).argmax(-1)  # no SP307
    greedy = logits.argmax(-1)  # no SP307
    logits = logits + drawn.unsqueeze(1) * 0.01 + greedy.unsqueeze(1) * 0.01
