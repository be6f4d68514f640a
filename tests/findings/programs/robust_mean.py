"""Runs of equal values and their counts, whose number only the device knows."""

import torch

device = torch.device("cuda")
losses = torch.rand(64, device=device)
for update in range(5):
    values, counts = torch.unique_consecutive(losses, return_counts=True)  # expect SP304, no SP300
    weighted = torch.bincount((losses * 4).long())  # expect SP304
    median = losses.median()  # no SP300, no SP304
    losses = losses * 0.9 + 0.01 * median + 0 * weighted[0] + 0 * values[0] + 0 * counts[0]
