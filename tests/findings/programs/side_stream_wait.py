"""A side stream that the host waits for."""

import torch

device = torch.device("cuda")
stream = torch.cuda.Stream()
x = torch.randn(16, 8, device=device)
for batch in range(5):
    with torch.cuda.stream(stream):
        y = x * 2
    stream.synchronize()  # expect SP310
    x = y + 1
