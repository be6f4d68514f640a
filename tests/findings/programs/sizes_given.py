"""The same with the sizes said."""

import torch
from torch.nn import functional

device = torch.device("cuda")
actions = torch.randint(0, 4, (16,), device=device)
repeats = torch.full((16,), 2, device=device)
for step in range(5):
    encoded = functional.one_hot(actions, num_classes=4)  # no SP304, no SP300
    repeated = torch.repeat_interleave(actions, repeats, output_size=32)  # no SP304
    chosen = torch.where(actions > 1, actions, 0)  # no SP304
    ordered = actions.sort().values.topk(3).values  # no SP300
    actions = encoded.float().argmax(dim=1) + chosen * 0 + repeated[:16] * 0 + ordered[0] * 0
