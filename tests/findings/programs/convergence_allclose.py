"""Value iteration with a test of convergence at each sweep."""

import torch

device = torch.device("cuda")
values, rewards = torch.zeros(16, device=device), torch.rand(16, device=device)


def has_converged(old, new):
    return torch.allclose(old, new, atol=1e-6)  # expect SP309


for sweep in range(6):
    updated = rewards + 0.9 * values.roll(1)
    done = has_converged(values, updated)
    values = updated
    if done:
        break
