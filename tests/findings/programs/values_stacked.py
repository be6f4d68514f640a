"""The values stacked where they are."""

import torch

device = torch.device("cuda")
for update in range(4):
    values = [torch.randn((), device=device) for _ in range(8)]  # expect SP502
    returns = torch.stack(values)  # no SP107
    scalars = torch.tensor([1.0, float(update)])  # no SP107, expect SP400
