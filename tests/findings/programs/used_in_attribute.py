"""A value kept in an attribute, which somebody else may look at."""

import torch

device = torch.device("cuda")


class Meter:
    def update(self, loss):
        self.last = loss.item()  # expect SP100, no SP102


meter = Meter()
for step in range(5):
    meter.update(torch.randn((), device=device))
