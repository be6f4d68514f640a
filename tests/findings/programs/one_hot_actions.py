"""Actions encoded without saying how many there are."""

import torch
from torch.nn import functional

device = torch.device("cuda")
actions = torch.randint(0, 4, (16,), device=device)
for step in range(5):
    encoded = functional.one_hot(actions)  # expect SP304
    actions = encoded.float().argmax(dim=1)
