"""Rows chosen by NumPy and written through their numbers."""

import numpy as np
import torch

device = torch.device("cuda")
returns = torch.zeros(32, device=device)
for step in range(5):
    finished = np.flatnonzero(np.random.rand(32) < 0.5)
    returns[finished] = 0.0  # expect SP203, no SP303
    returns = returns + 1
