"""A trainer with its update in a method of its own; the loop reads what the method returns."""

import torch
from torch import nn


class Trainer:
    def __init__(self, device):
        self.model = nn.Linear(8, 1).to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, fused=True)

    def update(self, x, y):
        loss = (self.model(x) - y).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


device = torch.device("cuda")
trainer = Trainer(device)
x, y = torch.randn(32, 8, device=device), torch.randn(32, 1, device=device)
losses = []
for _ in range(10):
    losses.append(trainer.update(x, y).item())  # expect SP103, no SP101
history = [trainer.update(x, y).item() for _ in range(5)]  # expect SP103, no SP101
print(min(losses), min(history))
