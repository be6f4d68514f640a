"""A recurrent network on sequences that are sliced by hand."""

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
sequences = torch.randn(10, 5, 4).to(device)
lstm, head = nn.LSTM(4, 8, batch_first=True).to(device), nn.Linear(8, 1).to(device)
optimizer = torch.optim.RMSprop([*lstm.parameters(), *head.parameters()])
for start in range(0, 10, 2):
    optimizer.zero_grad()
    hidden, _ = lstm(sequences[start : start + 2])
    loss = head(hidden[:, -1]).square().mean()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.3f}")
