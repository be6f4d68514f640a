"""A step of many reads: waiting is no work of the host."""

import torch

import syncprobe

device = torch.device("cuda")
x = torch.randn(64, device=device)
total = 0.0
for step in range(4):
    with syncprobe.step(), syncprobe.region("act"):
        for index in range(64):
            total += x[index].item()  # expect SP101, no SP103
# no SP601
