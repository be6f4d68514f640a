"""A Gaussian process: a Cholesky factor and a solution per step."""

import torch

device = torch.device("cuda")
points = torch.randn(8, 2, device=device)
targets = torch.randn(8, 1, device=device)
noise = torch.eye(8, device=device)
for step in range(4):
    kernel = (-torch.cdist(points, points)).exp() + noise
    factor = torch.linalg.cholesky(kernel)  # expect SP311, no SP300
    weights = torch.cholesky_solve(targets, factor)  # no SP311
    targets = targets + 0.1 * kernel @ weights
