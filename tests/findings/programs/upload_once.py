"""Data uploaded once, before the loop."""

import torch

device = torch.device("cuda")
data = torch.randn(64, 4).to(device)  # no SP205, no SP206
table = torch.tensor([1.0, 2.0, 3.0, 4.0]).to(device)  # no SP401, no SP402
for step in range(5):
    data = data * table  # no SP200
