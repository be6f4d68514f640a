"""A linear system solved in each update."""

import torch

device = torch.device("cuda")
fisher = torch.eye(4, device=device) * 2
gradient = torch.ones(4, device=device)
for update in range(5):
    direction = torch.linalg.solve(fisher, gradient)  # expect SP311
    gradient = gradient - 0.1 * direction
