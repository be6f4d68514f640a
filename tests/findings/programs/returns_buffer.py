"""A buffer for advantages made in each update and filled backwards in time."""

import torch

device = torch.device("cuda")
rewards = torch.randn(16, 4, device=device)
for update in range(4):
    advantages = torch.zeros(4, device=device)  # expect SP403, no SP402
    for t in reversed(range(16)):  # expect SP502
        advantages = rewards[t] + 0.9 * advantages  # no SP501
    rewards = rewards + advantages
