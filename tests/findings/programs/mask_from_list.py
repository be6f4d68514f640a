"""A mask built from a list of flags in each step, on the host."""

import torch

agents = [{"active": i % 2 == 0} for i in range(6)]
device = torch.device("cuda")
total = torch.zeros(6, device=device)
for step in range(5):
    agents[step]["active"] = False
    mask = torch.tensor([agent["active"] for agent in agents])  # expect SP400, no SP401
    if mask.any():  # no SP106
        total = total + 1
