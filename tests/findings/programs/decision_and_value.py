"""Only the action is needed by the environment; the value could be kept on the device."""

import numpy as np
import torch
from torch import nn

device = torch.device("cuda")
policy, critic = nn.Linear(4, 2).to(device), nn.Linear(4, 1).to(device)


class Env:
    def step(self, action):
        return np.random.randn(4).astype(np.float32)


env, values = Env(), []
observation = torch.zeros(4, device=device)
with torch.no_grad():
    for step in range(6):
        action = policy(observation).argmax().item()  # expect SP207
        values.append(critic(observation).item())  # expect SP104, no SP207
        observation = torch.as_tensor(env.step(action)).to(device)  # expect SP401
