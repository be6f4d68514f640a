"""A moving average of weights: parameters are gathered first, then a function is called for each of them."""

import copy

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
model = model.to(device)
average = copy.deepcopy(model)


def blend(mine, theirs):
    mine.lerp_(theirs, 0.01)  # expect SP503, no SP502


def update():
    pairs = []
    for mine, theirs in zip(average.parameters(), model.parameters(), strict=True):
        pairs.append((mine.data, theirs.data))  # noqa: PERF401  # as it is written
    for mine, theirs in pairs:
        blend(mine, theirs)


for step in range(5):
    update()
