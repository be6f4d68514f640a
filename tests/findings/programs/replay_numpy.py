"""A replay memory in NumPy arrays, with its own class, under a marked region."""

import numpy as np
import torch
from torch import nn

import syncprobe

device = torch.device("cuda")
critic = nn.Linear(4, 1).to(device)
optimizer = torch.optim.Adam(critic.parameters(), fused=True)


class Replay:
    def __init__(self):
        self.states = np.random.randn(64, 4).astype(np.float32)

    def sample(self, size):
        rows = np.random.randint(0, 64, size)
        return torch.from_numpy(self.states[rows]).to(device)  # expect SP204, no SP206


replay = Replay()
for step in range(5):
    with syncprobe.step(), syncprobe.region("learn"):
        loss = critic(replay.sample(8)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
