"""Buffers made once; results of operations are no buffers."""

import torch

device = torch.device("cuda")
advantages = torch.zeros(16, 4, device=device)  # no SP403
rewards = torch.randn(16, 4, device=device)
for update in range(4):
    advantages.zero_()  # no SP403
    advantages[0] = rewards[0]  # no SP403
    rewards = rewards * 0.9 + advantages  # no SP403, no SP502
    host = torch.zeros(4)  # no SP403, no SP402
