"""A classifier trained the textbook way: batches from a loader, the loss read at each."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
dataset = TensorDataset(torch.randn(64, 8), torch.randint(0, 3, (64,)))
loader = DataLoader(dataset, batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(2):
    running_loss = 0.0
    for x, y in loader:
        x = x.to(device)  # expect SP206, no SP204, no SP208
        y = y.to(device)  # expect SP206
        loss = nn.functional.cross_entropy(model(x), y)  # no SP501, no SP502
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # expect SP504
        running_loss += loss.item()  # expect SP103, no SP101
    print(f"epoch {epoch}: {running_loss / len(loader):.3f}")  # no SP105
