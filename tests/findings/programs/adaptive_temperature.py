"""A temperature kept as a Python number, read again at each update of a schedule."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 4).to(device)
x = torch.randn(8, 4, device=device)
temperature = 1.0


def anneal(logits, temperature):
    spread = float(logits.std())  # expect SP100, no SP106
    return temperature * 0.9 + 0.1 * spread


with torch.no_grad():
    for step in range(6):
        logits = model(x) / temperature
        temperature = anneal(logits, temperature)
