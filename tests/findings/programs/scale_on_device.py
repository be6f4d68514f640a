"""The same with the number left where it is."""

import torch

device = torch.device("cuda")
observations = torch.randn(32, 4, device=device)
variance = torch.ones(4, device=device)
for step in range(6):
    variance = 0.9 * variance + 0.1 * observations.var(dim=0)
    scale = variance.mean().sqrt()  # no SP100
    observations = observations / scale + torch.randn_like(observations)
print(float(observations.mean()))  # no SP100
