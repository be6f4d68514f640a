"""A temporal-difference error of each sample, read one by one, next to the update."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
states, targets = torch.randn(32, 4, device=device), torch.randn(32, 1, device=device)
for update in range(5):
    td = (model(states) - targets).squeeze(1)
    loss = td.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    worst = max(t.item() for t in td.abs())  # expect SP101, no SP103
print(worst)
