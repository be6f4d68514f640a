"""A gradient penalty, a product with the Hessian, and spectral norms."""
# syncs per step: 2
# first blamed line: print(step, loss.item(), penalty.item())

import sys

import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

device = sys.argv[1]
torch.manual_seed(39)
critic = nn.Sequential(
    spectral_norm(nn.Linear(6, 16)), nn.Softplus(), weight_norm(nn.Linear(16, 1))
).to(device)
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2, betas=(0.0, 0.9))
real = torch.randn(12, 6, device=device) + 1
for step in range(6):
    fake = torch.randn(12, 6, device=device)
    mixed = torch.lerp(fake, real, torch.rand(12, 1, device=device)).requires_grad_()
    said = critic(mixed)
    (slopes,) = torch.autograd.grad(said, mixed, torch.ones_like(said), create_graph=True)
    penalty = ((slopes.norm(2, dim=1) - 1) ** 2).mean()
    loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    print(step, loss.item(), penalty.item())
weights = list(critic.parameters())
gradients = torch.autograd.grad(critic(real).square().mean(), weights, create_graph=True)
product = torch.autograd.grad(sum(part.sum() for part in gradients), weights, allow_unused=True)
print(sum(part.sum().item() for part in product if part is not None))
