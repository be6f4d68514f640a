"""One copy of an action per agent and step."""

import numpy as np
import torch
from torch import nn

device = torch.device("cuda")


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2)).to(device)

    @torch.no_grad()
    def act(self, observation):
        state = torch.from_numpy(observation).unsqueeze(0).to(device)  # expect SP206, no SP401
        return self.actor(state).cpu().numpy()[0]  # expect SP201


class Arena:
    def step(self, actions):
        return np.zeros((4, 4), dtype=np.float32)


agent, arena = Agent(), Arena()
observations = arena.step([])
for step in range(6):
    actions = [agent.act(observation) for observation in observations]  # expect SP501
    observations = arena.step(actions)
