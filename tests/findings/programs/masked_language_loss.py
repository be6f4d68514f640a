"""The loss of the tokens that were masked out, as in a language model."""

import torch
from torch import nn

device = torch.device("cuda")
head = nn.Linear(8, 20).to(device)
optimizer = torch.optim.AdamW(head.parameters(), fused=True)
hidden = torch.randn(4, 6, 8, device=device)
labels = torch.randint(-1, 20, (4, 6), device=device)
for batch in range(4):
    mask = labels >= 0
    logits = head(hidden)[mask]  # expect SP302
    loss = nn.functional.cross_entropy(logits, labels[mask])  # expect SP302, no SP304
    optimizer.zero_grad()
    loss.backward()  # expect SP303
    optimizer.step()
