"""Several agents asked one after the other in each step of an environment."""

import numpy as np
import torch
from torch import nn

device = torch.device("cuda")
policy = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3)).to(device)


class Arena:
    def step(self, actions):
        return np.random.randn(5, 4).astype(np.float32)


arena = Arena()
observations = arena.step(None)
for step in range(8):
    actions = []
    for observation in observations:  # expect SP501
        state = torch.tensor(observation, device=device).unsqueeze(0)  # expect SP401
        with torch.no_grad():
            logits = policy(state)
        actions.append(logits.argmax().item())  # expect SP101, no SP207
    observations = arena.step(actions)
