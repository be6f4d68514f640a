"""A loop of operations so large that each is worth its launch."""

import torch

device = torch.device("cuda")
blocks = [torch.randn(256, 256, device=device) for _ in range(6)]
for step in range(2):
    for block in blocks:
        block.mul_(1.001)  # no SP502
