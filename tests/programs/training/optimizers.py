"""One small problem for many optimizers."""
# syncs per step: 76/24
# first blamed line: optimizer.step()

import sys

import torch
from torch import nn

device = sys.argv[1]
OPTIMIZERS = {
    "Adam": {"lr": 1e-2},
    "Adamax": {},
    "NAdam": {},
    "ASGD": {},
    "Rprop": {},
    "RMSprop": {"centered": True, "momentum": 0.5},
    "Adafactor": {},
    "Muon": {},
}
x = torch.linspace(-1, 1, 64).view(16, 4)
for name, options in OPTIMIZERS.items():
    torch.manual_seed(38)
    model = nn.Sequential(
        nn.Linear(4, 8, bias=False), nn.Softplus(), nn.Linear(8, 4, bias=False)
    ).to(device)
    optimizer = getattr(torch.optim, name)(model.parameters(), **options)
    inputs = x.to(device)
    for _ in range(4):
        loss = nn.functional.mse_loss(model(inputs), inputs.cos())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(name, loss.item(), sum(weight.abs().sum().item() for weight in model.parameters()))
