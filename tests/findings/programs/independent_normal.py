"""A Gaussian over action vectors with independent components."""

import torch
from torch.distributions import Independent, Normal

device = torch.device("cuda")
mean = torch.zeros(8, 2, device=device)
for step in range(5):
    base = Normal(mean, 0.5, validate_args=False)  # expect SP402
    action = Independent(base, 1, validate_args=False).sample()  # expect SP305
    mean = mean + 0.1 * action
