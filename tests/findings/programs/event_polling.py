"""Events asked whether they are over, and times looked at after the loop."""

import torch

device = torch.device("cuda")
start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
x = torch.randn(16, 16, device=device)
start.record()
for batch in range(5):
    x = x @ x  # no SP501
    end.record()
    is_over = end.query()  # no SP310
torch.cuda.synchronize()  # no SP310
elapsed = start.elapsed_time(end)
