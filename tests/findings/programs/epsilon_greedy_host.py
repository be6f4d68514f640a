"""Random actions drawn on the host and named before they travel."""

import torch


def explore(count, device):
    draws = torch.randint(0, 3, (count,))
    return draws.to(device)  # expect SP205, no SP206


device = torch.device("cuda")
total = torch.zeros(8, device=device)
for step in range(5):
    total += explore(8, device)
