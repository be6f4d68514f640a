"""The positions of a fleet appended to lists, boat by boat."""

import torch

device = torch.device("cuda")
positions = torch.zeros(6, 2, device=device)
tracks = [[] for _ in range(6)]
for step in range(5):
    positions = positions + torch.randn(6, 2, device=device)
    for index, track in enumerate(tracks):
        track.append(positions[index].tolist())  # expect SP201, no SP502
