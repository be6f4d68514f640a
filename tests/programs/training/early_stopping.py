"""Validation after every epoch, patience, the best weights kept and restored."""
# syncs per step: 21/15
# first blamed line: if torch.isnan(loss):

import copy
import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(41)
x, y = torch.randn(80, 5), torch.randn(80, 1)
train, valid = (x[:64].to(device), y[:64].to(device)), (x[64:].to(device), y[64:].to(device))
model = nn.Sequential(nn.Linear(5, 32), nn.ELU(), nn.Linear(32, 1)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
best, patience, kept = float("inf"), 2, None
for epoch in range(12):
    for rows in torch.randperm(64, device=device).split(16):
        loss = nn.functional.mse_loss(model(train[0][rows]), train[1][rows])
        if torch.isnan(loss):
            raise SystemExit("diverged")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        wrong = nn.functional.mse_loss(model(valid[0]), valid[1])
    print(epoch, wrong.item())
    if wrong < best:
        best, patience, kept = wrong, 2, copy.deepcopy(model.state_dict())
    else:
        patience -= 1
        if patience == 0:
            break
model.load_state_dict(kept)
print(nn.functional.mse_loss(model(valid[0]), valid[1]).item() == best.item(), best.item())
