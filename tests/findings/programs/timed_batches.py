"""Times of batches taken with a synchronize at each."""

import time

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(8, 8).to(device)
x = torch.randn(16, 8, device=device)
times = []
for batch in range(5):
    start = time.perf_counter()
    x = model(x).detach()
    torch.cuda.synchronize()  # expect SP310
    times.append(time.perf_counter() - start)
