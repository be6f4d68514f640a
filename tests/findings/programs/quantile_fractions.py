"""IQN's fractions drawn on the host."""

import torch

device = torch.device("cuda")
features = torch.randn(8, 4, device=device)
for update in range(5):
    taus = torch.rand(8, 4).to(device)  # expect SP205, no SP206
    features = features * taus.cos()
