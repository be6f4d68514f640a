"""An assertion and a comparison of device values in the loop."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
x = torch.randn(8, 4, device=device)
best = torch.full((), 1e9, device=device)
with torch.no_grad():
    for step in range(6):
        loss = model(x).square().mean()
        assert torch.isfinite(loss).all()  # expect SP106
        if loss < best:  # expect SP106, no SP104
            best = loss
