"""One scaler for two optimizers, as actors and critics have."""

import torch
from torch import nn

device = torch.device("cuda")
actor, critic = nn.Linear(8, 2).to(device), nn.Linear(8, 1).to(device)
actor_optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
critic_optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
x = torch.randn(16, 8, device=device)
for update in range(4):
    scaler.scale(critic(x).square().mean()).backward()
    scaler.step(critic_optimizer)  # expect SP308
    scaler.scale(actor(x).square().mean()).backward()
    scaler.step(actor_optimizer)  # expect SP308
    scaler.update()
    actor_optimizer.zero_grad()
    critic_optimizer.zero_grad()
