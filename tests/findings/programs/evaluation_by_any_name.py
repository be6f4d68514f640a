"""Correct answers of a test set, batch by batch; what gives the batches is called anything."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = "cuda"
answers = TensorDataset(torch.randn(20, 8), torch.randint(0, 3, (20,)))
data = DataLoader(answers, batch_size=4, pin_memory=True)
model = nn.Linear(8, 3).to(device).eval()
correct = 0
with torch.inference_mode():
    for inputs, targets in data:
        inputs = inputs.to(device, non_blocking=True)
        targets = targets.to(device, non_blocking=True)
        right = (model(inputs).argmax(1) == targets).sum()
        correct += right.item()  # expect SP103, no SP104, no SP101
print(correct)
