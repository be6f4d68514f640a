"""The same experiment for several seeds: a loop around training is no loop over samples."""

import torch
from torch import nn


def experiment(seed, device):
    torch.manual_seed(seed)
    model = nn.Linear(4, 1).to(device)  # no SP206, no SP200
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
    x = torch.randn(8, 4, device=device)
    for _ in range(5):
        loss = model(x).square().mean()  # no SP501, no SP502
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()  # no SP101, no SP103


results = [experiment(seed, torch.device("cuda")) for seed in range(3)]
print(sum(results))
