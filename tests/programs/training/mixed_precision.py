"""Mixed precision with a gradient scaler, gradients unscaled before they are clipped."""
# syncs per step: 11/9
# first blamed line: scaler.step(optimizer)

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(6)
model = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 4)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scaler = torch.amp.GradScaler(device, init_scale=128.0, growth_interval=3)
x = torch.randn(32, 16, device=device)
y = torch.randint(4, (32,), device=device)
for step in range(10):
    optimizer.zero_grad()
    with torch.autocast(device_type=device, dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x).float(), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    if step % 5 == 4:
        print(step, loss.item(), scaler.get_scale())
print(sum(weight.abs().sum().item() for weight in model.parameters()))
