"""The loss printed as a number at each batch."""

import torch
from torch import nn

import syncprobe

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
x = torch.randn(8, 4, device=device)
for batch in range(10):
    with syncprobe.step():
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with syncprobe.region("log"):
            print(loss.item())  # expect SP103, no SP105, no SP601
