"""Saves a checkpoint, loads it on the device, goes on: the same losses as without the break."""
# syncs per step: 84/5
# first blamed line: optimizer.step()

import io
import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

device = sys.argv[1]
torch.manual_seed(37)


def make():
    model = nn.Sequential(
        nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1)
    ).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    return model, optimizer, torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)


def train(model, optimizer, schedule, steps):
    for _ in range(steps):
        hidden = checkpoint(model[:4], x, use_reentrant=False)
        loss = nn.functional.mse_loss(model[4](hidden), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step(loss)
        print(loss.item())


x, y = torch.randn(16, 8, device=device), torch.randn(16, 1, device=device)
first = make()
train(*first, 3)
file = io.BytesIO()
torch.save({name: part.state_dict() for name, part in zip("mos", first)}, file)
train(*first, 2)
file.seek(0)
saved = torch.load(file, map_location=device, weights_only=True)
second = make()
for name, part in zip("mos", second):
    part.load_state_dict(saved[name])
train(*second, 2)
