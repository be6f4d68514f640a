"""Checks and a factorisation after the loop: once is not worth a word."""

import torch

device = torch.device("cuda")
weights = torch.eye(4, device=device)
for step in range(5):
    weights = weights * 1.01  # no SP502
assert torch.allclose(weights, weights.T)  # no SP309, no SP106
inverse = torch.linalg.inv(weights)  # no SP311
values = torch.tensor([1.0, 2.0]).to(device)  # no SP400, no SP401
torch.cuda.synchronize()  # no SP310
print(inverse.cpu().sum() + values.cpu().sum())  # no SP200, no SP105
