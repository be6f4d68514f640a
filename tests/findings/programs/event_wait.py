"""An event the host waits for in each step."""

import torch

device = torch.device("cuda")
x = torch.randn(16, 8, device=device)
done = torch.cuda.Event()
for batch in range(5):
    x = x * 2
    done.record()
    done.synchronize()  # expect SP310
