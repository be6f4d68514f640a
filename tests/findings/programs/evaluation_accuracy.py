"""Evaluation only: the number of right answers is read at each batch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda")
dataset = TensorDataset(torch.randn(64, 8), torch.randint(0, 3, (64,)))
loader = DataLoader(dataset, batch_size=16)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).to(device).eval()

correct = 0
with torch.no_grad():
    for x, y in loader:
        x, y = x.to(device), y.to(device)  # expect SP206
        scores = model(x)  # no SP501, no SP502
        correct += (scores.argmax(dim=1) == y).sum().item()  # expect SP103, no SP101, no SP100
print(f"accuracy {correct / len(dataset):.2f}")
