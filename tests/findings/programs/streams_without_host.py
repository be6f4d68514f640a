"""Streams that wait for each other, which costs the host nothing; a synchronize after the loop."""

import torch

device = torch.device("cuda")
stream = torch.cuda.Stream()
x = torch.randn(16, 8, device=device)
for batch in range(5):
    stream.wait_stream(torch.cuda.current_stream())  # no SP310
    with torch.cuda.stream(stream):
        y = x * 2
    torch.cuda.current_stream().wait_stream(stream)  # no SP310
    x = y + 1
torch.cuda.synchronize()  # no SP310
