"""A loader without pinned memory whose batches are sent with non_blocking=True."""

import torch
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda")
loader = DataLoader(TensorDataset(torch.randn(32, 4), torch.randn(32)), batch_size=8)
total = torch.zeros((), device=device)
for epoch in range(2):
    for inputs, targets in loader:
        inputs = inputs.to(device, non_blocking=True)  # expect SP202, no SP206
        targets = targets.to(device, non_blocking=True)  # expect SP202
        total += (inputs.sum(dim=1) - targets).abs().sum()
