"""Features computed in Python before each update."""

import torch
from torch import nn

import syncprobe

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
x = torch.randn(8, 4, device=device)


def tokenise(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items())


text = "the quick brown fox jumps over the lazy dog " * 2000
for batch in range(4):
    with syncprobe.step():
        with syncprobe.region("data"):
            tokens = [tokenise(text) for _ in range(2)]
        with syncprobe.region("learn"):
            x = x + model(x).detach()
# expect SP601 in data
