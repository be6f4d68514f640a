"""A list of rewards made into a host tensor in each step."""

import torch

device = torch.device("cuda")
scale = torch.ones((), device=device)
running = torch.zeros(4)
for step in range(5):
    rewards = [float(step), 1.0, 0.5, 0.0]
    running += torch.as_tensor(rewards)  # expect SP400, no SP402
    scale = scale * 0.9
