"""The hidden state of an LSTM made anew for each batch."""

import torch
from torch import nn

device = torch.device("cuda")
lstm = nn.LSTMCell(4, 8).to(device)
x = torch.randn(6, 4, device=device)
with torch.no_grad():
    for batch in range(4):
        h = torch.zeros(6, 8, device=device)  # expect SP403
        c = x.new_zeros(6, 8)  # expect SP403, no SP402
        h, c = lstm(x, (h, c))
