"""Gradients of four batches before a step, clipped, with a moving average of the weights."""
# syncs per step: 34/3
# first blamed line: loss = nn.functional.smooth_l1_loss(model(inputs.to(device)), targets.to(device)) / 4

import copy
import sys

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

device = sys.argv[1]
torch.manual_seed(30)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.BatchNorm1d(32), nn.Linear(32, 1)).to(device)
average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9), use_buffers=True)
by_hand = copy.deepcopy(model).eval()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, amsgrad=True)
x, y = torch.randn(128, 10), torch.randn(128, 1)
optimizer.zero_grad()
for number, (inputs, targets) in enumerate(zip(x.split(8), y.split(8))):
    loss = nn.functional.smooth_l1_loss(model(inputs.to(device)), targets.to(device)) / 4
    loss.backward()
    if number % 4 == 3:
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        nn.utils.clip_grad_value_(model.parameters(), 0.05)
        optimizer.step()
        optimizer.zero_grad()
        average.update_parameters(model)
        with torch.no_grad():
            for slow, fast in zip(by_hand.parameters(), model.parameters()):
                slow.mul_(0.9).add_(fast, alpha=0.1)
        print(number, loss.item(), norm.item())
average.eval()
with torch.no_grad():
    print(
        average(x.to(device)).sum().item(),
        by_hand(x.to(device)).sum().item(),
        average.n_averaged.item(),
    )
