"""A loader that pins its batches, which are uploaded with a wait nevertheless."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda")
dataset = TensorDataset(torch.randn(64, 8), torch.randint(0, 3, (64,)))
loader = DataLoader(dataset, batch_size=16, pin_memory=True)
model = nn.Linear(8, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for inputs, labels in loader:
    inputs, labels = inputs.to(device), labels.to(device)  # expect SP208, no SP206
    loss = nn.functional.cross_entropy(model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
