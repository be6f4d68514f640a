"""Only an evaluation, batch by batch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = "cuda" if torch.cuda.is_available() else "cpu"
data = DataLoader(TensorDataset(torch.randn(20, 8), torch.randint(0, 3, (20,))), batch_size=4)
model = nn.Linear(8, 3).to(device).eval()
correct = 0
with torch.inference_mode():
    for inputs, targets in data:
        correct += (model(inputs.to(device)).argmax(1) == targets.to(device)).sum().item()
print(correct)
