"""Minibatches drawn with a permutation of the host."""

import torch

device = torch.device("cuda")
data = torch.randn(32, 4, device=device)
total = torch.zeros((), device=device)
for epoch in range(3):
    order = torch.randperm(32)
    for start in range(0, 32, 8):
        batch = data[order[start : start + 8]]  # expect SP203, no SP302, no SP205
        total += batch.sum()
