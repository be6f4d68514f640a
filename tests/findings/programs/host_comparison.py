"""Tensors of the host compared: nobody waits."""

import torch

device = torch.device("cuda")
mask, last = torch.ones(4), torch.ones(4)
x = torch.zeros(4, device=device)
for step in range(5):
    if torch.equal(mask, last) or torch.allclose(mask, last):  # no SP309
        x = x + 1
    spread = torch.normal(torch.zeros(4), torch.ones(4))  # no SP306, no SP205
    factor = torch.linalg.cholesky(torch.eye(4))  # no SP311
    last = mask + 0 * spread + 0 * factor[0]
