"""Batches that are pinned by hand, and copied with a wait in every epoch."""

import torch

device = torch.device("cuda")
batches = [torch.randn(16, 8).pin_memory() for _ in range(4)]
weight = torch.zeros(8, 1, device=device, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)

for epoch in range(2):
    for batch in batches:
        inputs = batch.cuda()  # expect SP208, no SP206
        optimizer.zero_grad()
        (inputs @ weight).sum().backward()
        optimizer.step()
