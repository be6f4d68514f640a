"""Values of a rollout gathered into a new tensor, each read by itself."""

import torch

device = torch.device("cuda")
for update in range(4):
    values = [torch.randn((), device=device) for _ in range(8)]  # expect SP502
    returns = torch.tensor(values, device=device)  # expect SP107, no SP401, no SP101
    advantages = returns - returns.mean()
