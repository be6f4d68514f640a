"""A filter that inverts a covariance in each step."""

import torch

device = torch.device("cuda")
covariance = torch.eye(4, device=device)
for step in range(5):
    gain = torch.linalg.inv(covariance + torch.eye(4, device=device))  # expect SP311, expect SP402
    covariance = covariance - 0.1 * gain @ covariance
