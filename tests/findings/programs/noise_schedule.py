"""Diffusion noise with a standard deviation per sample."""

import torch

device = torch.device("cuda")
images = torch.randn(4, 8, device=device)
schedule = torch.linspace(0.1, 1.0, 4, device=device).unsqueeze(1).expand(4, 8)
for step in range(5):
    noise = torch.normal(0.0, schedule)  # expect SP306
    images = images + noise
