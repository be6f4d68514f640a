"""Exploration noise for continuous actions, drawn in two ways that check their input."""

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

device = torch.device("cuda")
actor = nn.Linear(4, 2).to(device)


class Env:
    def step(self, action):
        return np.random.randn(4).astype(np.float32)


env = Env()
obs = torch.zeros(4, device=device)
std = torch.full((2,), 0.3, device=device)
with torch.no_grad():
    for step in range(6):
        mean = actor(obs)
        action = Normal(mean, std, validate_args=False).sample()  # expect SP305, no SP301, no SP306
        noisy = torch.normal(action, std)  # expect SP306, no SP305
        new = env.step(noisy.clamp(-1, 1).cpu().numpy())  # expect SP207
        obs = torch.as_tensor(new).to(device)  # expect SP401, no SP202
