"""REINFORCE, with the losses of an episode put together by torch.tensor."""

import torch
from torch import nn

device = torch.device("cuda")
policy = nn.Linear(4, 2).to(device)
for episode in range(4):
    rewards = []
    for step in range(5):
        observation = torch.randn(4, device=device)
        with torch.no_grad():
            rewards.append(policy(observation).max())  # no SP101
    rewards = torch.tensor(rewards)  # expect SP107
    returns = rewards.flip(0).cumsum(0).flip(0)
