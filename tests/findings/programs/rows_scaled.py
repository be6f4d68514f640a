"""Rows of a matrix scaled one after the other."""

import torch

device = torch.device("cuda")
values, scale = torch.randn(12, 4, device=device), torch.rand(12, device=device)


def rescale(values, scale):
    for row in range(len(values)):  # expect SP502
        values[row] = values[row] * scale[row]  # no SP101


for step in range(4):
    rescale(values, scale)
