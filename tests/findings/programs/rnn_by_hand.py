"""A recurrent cell over time: each turn needs the last, so it is no batch of one."""

import torch
from torch import nn

device = torch.device("cuda")
cell = nn.GRUCell(4, 8).to(device)
readout = nn.Linear(8, 1).to(device)
optimizer = torch.optim.Adam([*cell.parameters(), *readout.parameters()], fused=True)
sequence = torch.randn(5, 12, 4, device=device)
for batch in range(3):
    hidden = sequence.new_zeros(5, 8)  # expect SP403
    for t in range(sequence.shape[1]):  # expect SP502
        hidden = cell(sequence[:, t], hidden)  # no SP501
    loss = readout(hidden).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
