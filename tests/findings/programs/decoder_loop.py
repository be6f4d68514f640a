"""A decoder that adds one token at a time to a batch of sentences and stops at a length."""

import torch
from torch import nn

device = torch.device("cuda")
embedding, head = nn.Embedding(20, 8).to(device), nn.Linear(8, 20).to(device)


@torch.no_grad()
def decode(tokens, length):
    while tokens.shape[1] < length:  # expect SP502, no SP106
        logits = head(embedding(tokens).mean(1))  # no SP501
        tokens = torch.cat((tokens, logits.argmax(-1, keepdim=True)), dim=1)
    return tokens


for batch in range(3):
    decode(torch.zeros(4, 1, dtype=torch.long, device=device), 8)  # expect SP403
