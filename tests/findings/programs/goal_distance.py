"""Three numbers about a position, read one after the other in a function."""

import math

import torch

device = torch.device("cuda")


def distance(position):
    x = position[0].item()  # expect SP104
    y = position[1].item()  # expect SP104, no SP101
    return math.hypot(x, y)


position = torch.zeros(2, device=device)
total = 0.0
for step in range(5):
    position = position + torch.randn(2, device=device)
    total += distance(position)
