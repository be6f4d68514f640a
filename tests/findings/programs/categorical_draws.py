"""Categorical draws with replacement and are not checked, whatever torch it is."""
# torch before 2.5

import torch
from torch.distributions import Categorical

device = torch.device("cuda")
logits = torch.randn(8, 3, device=device)
for step in range(5):
    dist = Categorical(logits=logits, validate_args=False)
    logits = logits + dist.sample().unsqueeze(1)  # no SP307, no SP305
