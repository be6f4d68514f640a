"""Denoising diffusion: noise by a schedule, time embedded by sines, then sampling backwards."""
# syncs per step: 1/7
# first blamed line: print(step, loss.item())

import math
import sys

import torch
from torch import nn

device = torch.device(sys.argv[1])
torch.manual_seed(28)
TIMES = 10
betas = torch.linspace(1e-4, 0.2, TIMES).to(device)
kept = (1 - betas).cumprod(0)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(16, 16), nn.SiLU(), nn.Linear(16, 16))
        self.begin, self.middle, self.end = (
            nn.Conv2d(1, 16, 3, 1, 1),
            nn.Conv2d(16, 16, 3, 1, 1),
            nn.Conv2d(16, 1, 3, 1, 1),
        )
        self.norm = nn.GroupNorm(4, 16)

    def forward(self, x, t):
        speeds = torch.exp(-math.log(1000) * torch.arange(8, device=x.device) / 8)
        angles = t[:, None].float() * speeds
        embedded = self.time(torch.cat([angles.sin(), angles.cos()], 1))
        x = torch.relu(self.begin(x)) + embedded[:, :, None, None]
        return self.end(nn.functional.silu(self.norm(self.middle(x))))


model = Denoiser().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
images = torch.rand(16, 1, 8, 8).to(device)
for step in range(8):
    t = torch.randint(TIMES, (16,), device=device)
    noise = torch.randn_like(images)
    share = kept[t].view(-1, 1, 1, 1)
    noisy = share.sqrt() * images + (1 - share).sqrt() * noise
    loss = nn.functional.mse_loss(model(noisy, t), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 3:
        print(step, loss.item())
with torch.no_grad():
    x = torch.randn(2, 1, 8, 8, device=device)
    for t in reversed(range(TIMES)):
        found = model(x, torch.full((2,), t, device=device))
        x = (x - betas[t] / (1 - kept[t]).sqrt() * found) / (1 - betas[t]).sqrt()
        if t > 0:
            x = x + betas[t].sqrt() * torch.randn_like(x)
print(x.mean().item(), x.std().item())
