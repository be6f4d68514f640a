"""DCGAN: transposed convolutions against convolutions, labels filled in place."""
# syncs per step: 4
# first blamed line: print(step, (real_loss + fake_loss).item(), generator_loss.item(), output.mean().item())

import sys

import torch
from torch import nn

device = torch.device(sys.argv[1])
torch.manual_seed(23)


def prepare(module):
    name = module.__class__.__name__
    if "Conv" in name:
        nn.init.normal_(module.weight, 0.0, 0.02)
    elif "BatchNorm" in name:
        nn.init.normal_(module.weight, 1.0, 0.02)
        nn.init.zeros_(module.bias)


generator = nn.Sequential(
    nn.ConvTranspose2d(8, 16, 4, 1, 0, bias=False),
    nn.BatchNorm2d(16),
    nn.ReLU(True),
    nn.ConvTranspose2d(16, 3, 4, 2, 1, bias=False),
    nn.Tanh(),
).to(device)
critic = nn.Sequential(
    nn.Conv2d(3, 16, 4, 2, 1, bias=False),
    nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(16, 1, 4, 1, 0, bias=False),
    nn.Sigmoid(),
).to(device)
generator.apply(prepare)
critic.apply(prepare)
criterion = nn.BCELoss()
fixed = torch.randn(4, 8, 1, 1, device=device)
for_critic = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.999))
for_generator = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
loader = torch.utils.data.DataLoader(torch.randn(48, 3, 8, 8).tanh(), batch_size=8)
for step, images in enumerate(loader):
    critic.zero_grad()
    real = images.to(device)
    label = torch.full((len(real),), 1, dtype=real.dtype, device=device)
    real_loss = criterion(critic(real).view(-1), label)
    real_loss.backward()
    fake = generator(torch.randn(len(real), 8, 1, 1, device=device))
    label.fill_(0)
    fake_loss = criterion(critic(fake.detach()).view(-1), label)
    fake_loss.backward()
    for_critic.step()
    generator.zero_grad()
    label.fill_(1)
    output = critic(fake).view(-1)
    generator_loss = criterion(output, label)
    generator_loss.backward()
    for_generator.step()
    print(step, (real_loss + fake_loss).item(), generator_loss.item(), output.mean().item())
print(generator(fixed).detach().sum().item())
