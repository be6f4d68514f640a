"""Two networks, two optimizers, taking turns."""

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
generator, critic = nn.Linear(2, 4).to(device), nn.Linear(4, 1).to(device)
for_generator = torch.optim.Adam(generator.parameters())
for_critic = torch.optim.Adam(critic.parameters())
for _ in range(6):
    real, noise = torch.randn(8, 4, device=device), torch.randn(8, 2, device=device)
    for_critic.zero_grad()
    (critic(generator(noise).detach()).mean() - critic(real).mean()).backward()
    for_critic.step()
    for_generator.zero_grad()
    (-critic(generator(noise)).mean()).backward()
    for_generator.step()
