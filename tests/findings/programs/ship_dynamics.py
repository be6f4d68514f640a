"""Ships moved one by one in Python, in each step: the device has hardly anything to do."""

import math

import torch

import syncprobe

device = torch.device("cuda")
weights = torch.ones(4, device=device)
ships = [[0.0, 0.0, 0.1 * i] for i in range(400)]
for step in range(4):
    with syncprobe.step():
        with syncprobe.region("env"):
            for ship in ships * 20:
                ship[0] += 0.01 * math.cos(ship[2])
                ship[1] += 0.01 * math.sin(ship[2])
        with syncprobe.region("learn"):
            weights = weights * 0.99
# expect SP601 in env
