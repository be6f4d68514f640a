"""SAC's update as its first implementations have it."""

import torch
from torch import nn
from torch.distributions import Normal

device = torch.device("cuda")
actor, critic = nn.Linear(4, 4).to(device), nn.Linear(6, 1).to(device)
target = nn.Linear(6, 1).to(device)
optimizer = torch.optim.Adam(actor.parameters(), lr=3e-4)
states = torch.randn(16, 4, device=device)


def update():
    mean, log_std = actor(states).chunk(2, dim=-1)
    dist = Normal(mean, log_std.exp())  # expect SP301
    action = dist.rsample()  # no SP305
    entropy = -dist.log_prob(action).sum(-1)  # expect SP301
    loss = -(critic(torch.cat((states, action), -1)).squeeze(1) + 0.2 * entropy).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # expect SP504
    for target_param, param in zip(target.parameters(), critic.parameters()):
        target_param.data.copy_(0.995 * target_param.data + 0.005 * param.data)  # expect SP503
    return loss.item(), entropy.mean().item()  # expect SP103


for step in range(6):
    policy_loss, entropy = update()
    if step == 5:
        print(policy_loss, entropy)
