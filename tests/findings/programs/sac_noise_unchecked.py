"""The same noise without the checks."""

import torch
from torch import nn
from torch.distributions import Normal

device = torch.device("cuda")
actor = nn.Linear(4, 2).to(device)
obs = torch.zeros(8, 4, device=device)
std = torch.full((2,), 0.3, device=device)
with torch.no_grad():
    for step in range(6):
        mean = actor(obs)
        action = Normal(mean, std, validate_args=False).rsample()  # no SP305
        noisy = action + std * torch.randn_like(action)  # no SP306
        target_noise = torch.normal(0.0, 0.2, (8, 2), device=device)  # no SP306
        obs = obs + (noisy + target_noise).repeat(1, 2)
