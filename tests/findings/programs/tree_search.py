"""A search over a tree of Python objects between two forwards."""

import torch
from torch import nn

import syncprobe

device = torch.device("cuda")
net = nn.Linear(4, 2).to(device)
x = torch.randn(1, 4, device=device)


def search(depth):
    return 1 if depth == 0 else sum(search(depth - 1) for _ in range(4))


with torch.no_grad():
    for move in range(3):
        with syncprobe.step():
            with syncprobe.region("search"):
                visits = search(7)
            with syncprobe.region("act"):
                net(x)
# expect SP601 in search
