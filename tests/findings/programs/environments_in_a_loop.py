"""Four environments, each with a forward and a read of its own: one of each would do."""

import numpy as np
import torch
from torch import nn

device = torch.device("cuda")
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2)).to(device)


class Env:
    observation = np.zeros(4, dtype=np.float32)

    def step(self, action):
        self.observation = np.random.randn(4).astype(np.float32)


envs = [Env() for _ in range(4)]
with torch.no_grad():
    for step in range(6):
        for env in envs:  # expect SP501
            state = torch.from_numpy(env.observation).to(device)  # expect SP206
            action = policy(state).argmax()
            env.step(action.item())  # expect SP101, no SP207
