"""Reward and end of an episode read from the device in two lines."""

import torch

device = torch.device("cuda")


class World:
    def __init__(self):
        self.state = torch.zeros(6, device=device)

    def advance(self):
        self.state = self.state + torch.randn(6, device=device)
        return -self.state.abs(), self.state.abs() > 2


world = World()
returns = 0.0
for step in range(6):
    rewards, dones = world.advance()
    reward_array = rewards.cpu().numpy()  # expect SP104, no SP200, no SP201
    done_array = dones.cpu().numpy()  # expect SP104
    returns += float(reward_array[~done_array].sum())  # no SP302
