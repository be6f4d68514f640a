"""One forward and one read for all environments: as good as it gets with a host environment."""

import numpy as np
import torch
from torch import nn

device = torch.device("cuda")
policy = nn.Linear(4, 2).to(device)
staging = torch.zeros(8, 4, pin_memory=True)


class Envs:
    def step(self, actions):
        staging.numpy()[:] = np.random.randn(8, 4)


envs = Envs()
with torch.no_grad():
    for step in range(6):
        observations = staging.to(device, non_blocking=True)
        actions = policy(observations).argmax(dim=1)
        actions = actions.cpu().numpy()  # expect SP207, no SP201, no SP200
        envs.step(actions)
