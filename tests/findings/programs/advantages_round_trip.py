"""Advantages normalised on the host and brought back."""

import torch

device = torch.device("cuda")
for update in range(5):
    advantages = torch.randn(64, device=device)
    host = advantages.cpu()  # expect SP200, no SP201
    host = (host - host.mean()) / host.std()
    advantages = host.to(device)  # expect SP206
