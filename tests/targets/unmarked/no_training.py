"""No training at all: values are read one by one, after a long set-up."""

import time

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
values = torch.arange(500.0, device=device)
time.sleep(1)
total = 0.0
for number in range(500):
    total += values[number].item()
print(total)
