"""A value that only a function defined inside uses."""

import torch

device = torch.device("cuda")


def summary(values):
    mean = values.mean().item()  # expect SP100, no SP102

    def text():
        return f"mean {mean:.2f}"

    return text


for step in range(5):
    summary(torch.randn(8, device=device))()
