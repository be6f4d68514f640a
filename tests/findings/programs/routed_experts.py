"""Experts that get as many rows as a gate sends them: the sizes are needed at once, the loss is not."""

import torch
from torch import nn

device = torch.device("cuda")


class Routed(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 3)
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x):
        chosen, order = self.gate(x).argmax(dim=1).sort()
        sent = nn.functional.one_hot(chosen, 3).sum(0)
        sizes = sent.tolist()  # expect SP200, no SP103
        parts = x[order].split(sizes)
        return torch.cat([expert(part) for expert, part in zip(self.experts, parts, strict=True)])


net = Routed().to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0.0
for batch in range(6):
    loss = net(torch.randn(16, 8, device=device)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()  # expect SP103
print(total)
