"""Sets and positions whose size only the device knows."""

import torch

device = torch.device("cuda")
labels = torch.randint(0, 4, (32,), device=device)
for step in range(4):
    present = torch.unique(labels)  # expect SP304, no SP300
    places = (labels == 2).nonzero()  # expect SP304, no SP302
    labels = (labels + present[0] + places.shape[0]) % 4
