"""TD3: target noise, a delayed copy of parameters with foreach operations."""

import torch
from torch import nn

device = torch.device("cuda")
actor, actor_target = nn.Linear(4, 2).to(device), nn.Linear(4, 2).to(device)
optimizer = torch.optim.Adam(actor.parameters(), fused=True)
mine, theirs = list(actor_target.parameters()), list(actor.parameters())
states = torch.randn(16, 4, device=device)
sigma = torch.full((16, 2), 0.2, device=device)
for step in range(8):
    noise = torch.normal(torch.zeros_like(sigma), sigma)  # expect SP306, no SP403
    loss = (actor(states) - (actor_target(states) + noise.clamp(-0.5, 0.5))).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        torch._foreach_lerp_(mine, theirs, 0.005)  # no SP503
