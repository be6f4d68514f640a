"""An ensemble: a loop over networks, each given the whole batch."""

import torch
from torch import nn

device = torch.device("cuda")
critics = nn.ModuleList(nn.Linear(4, 1) for _ in range(5)).to(device)
states = torch.randn(16, 4, device=device)
with torch.no_grad():
    for update in range(4):
        values = [critic(states) for critic in critics]  # expect SP502, no SP501
        states = states + 0.1 * torch.stack(values).mean(0)
