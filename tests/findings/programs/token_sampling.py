"""Tokens drawn from a language model's probabilities, by a torch that checks on the host."""
# torch before 2.5

import torch
from torch import nn

device = torch.device("cuda")
head = nn.Linear(8, 20).to(device)
embedding = nn.Embedding(20, 8).to(device)
tokens = torch.zeros(2, 1, dtype=torch.long, device=device)
with torch.no_grad():
    for _ in range(6):
        probabilities = head(embedding(tokens[:, -1])).softmax(-1)  # no SP501, no SP203
        drawn = torch.multinomial(probabilities, 1)  # expect SP307
        tokens = torch.cat((tokens, drawn), dim=1)
