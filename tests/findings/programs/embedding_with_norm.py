"""An embedding whose rows are scaled when they grow too long, which the device does alone."""

import torch
from torch import nn

device = torch.device("cuda")
free = nn.Embedding(20, 8).to(device)
bounded = nn.Embedding(20, 8, max_norm=1.0).to(device)
ids = torch.randint(0, 20, (4, 6), device=device)
with torch.no_grad():
    for batch in range(4):
        x = free(ids)  # no SP300
        x = x + bounded(ids)  # no SP300, no SP304
