"""The same with pinned batches, a fused optimizer and one read per epoch: nothing to say."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda")
dataset = TensorDataset(torch.randn(64, 8), torch.randint(0, 3, (64,)))
loader = DataLoader(dataset, batch_size=16, pin_memory=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=True)

for epoch in range(2):
    total = torch.zeros((), device=device)
    for x, y in loader:
        x = x.to(device, non_blocking=True)  # no SP202, no SP206, no SP208
        y = y.to(device, non_blocking=True)  # no SP200
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # no SP504
        total += loss.detach()  # no SP103
print("loss", (total / len(loader)).item())  # no SP101
