"""The same with indices on the device."""

import torch

device = torch.device("cuda")
values = torch.randn(8, 3, device=device)
rows = torch.arange(8, device=device)
for update in range(5):
    actions = torch.randint(0, 3, (8,), device=device)  # no SP205
    chosen = values[rows, actions]  # no SP203, no SP302
    chosen = chosen + values.gather(1, actions.unsqueeze(1)).squeeze(1)  # no SP203
    values = values + chosen[:4].mean() + chosen[0]  # no SP203
