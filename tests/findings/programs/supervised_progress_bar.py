"""A progress bar that shows the loss at each batch."""

import torch
from torch import nn


class Bar:
    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        return iter(self.batches)

    def set_postfix(self, **values):
        self.shown = values


device = "cuda"
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
batches = [torch.randn(8, 4, device=device) for _ in range(6)]
bar = Bar(batches)
for batch in bar:
    loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    bar.set_postfix(loss=loss.item())  # expect SP103, no SP100
