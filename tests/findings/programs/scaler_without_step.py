"""A class of one's own with a scale and a step, which is no gradient scaler."""

import torch

device = torch.device("cuda")


class Scaler:
    def step(self, rewards):
        return rewards / (rewards.std() + 1e-8)  # no SP308


scaler = Scaler()
for step in range(5):
    rewards = scaler.step(torch.randn(16, device=device))  # no SP308, no SP207
    noise = torch.normal(0.0, 1.0, size=(16,), device=device)  # no SP306
    rewards = rewards + noise
