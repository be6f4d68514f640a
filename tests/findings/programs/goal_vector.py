"""A target built from the numbers of the host, straight on the device."""

import torch

device = torch.device("cuda")
position = torch.zeros(2, device=device)
for step in range(5):
    goal = torch.tensor([float(step), 1.0 + step], device=device)  # expect SP401, no SP402
    position = position + 0.1 * (goal - position)
