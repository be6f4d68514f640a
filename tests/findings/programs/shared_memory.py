"""Host tensors that share memory with arrays: nothing is converted."""

import numpy as np
import torch

device = torch.device("cuda")
buffer = np.zeros((8, 4), dtype=np.float32)
view = torch.from_numpy(buffer)
ones = torch.ones(8, 4, device=device)
for step in range(5):
    buffer[step % 8] = np.random.randn(4)
    rows = torch.from_numpy(buffer[:4])  # no SP400
    mean = view.mean() + rows.mean()  # no SP400, no SP100
    ones = ones * 0.99
