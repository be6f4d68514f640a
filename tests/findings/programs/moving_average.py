"""A moving average of weights, through the state's items."""

import copy

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).to(device)
average = copy.deepcopy(model)
for update in range(5):
    with torch.no_grad():
        for (_, mine), (_, theirs) in zip(
            average.named_parameters(), model.named_parameters(), strict=True
        ):
            mine.lerp_(theirs, 0.01)  # expect SP503, no SP502
