"""Running statistics that read the size of a batch's mean as an int and a float."""

import torch

device = torch.device("cuda")


class Normalizer:
    def __init__(self):
        self.mean, self.count = 0.0, 0

    def update(self, batch):
        self.count += batch.shape[0]  # no SP100
        self.mean += batch.mean().item() / self.count  # expect SP100, no SP104


normalizer = Normalizer()
for step in range(5):
    normalizer.update(torch.randn(16, 4, device=device))
