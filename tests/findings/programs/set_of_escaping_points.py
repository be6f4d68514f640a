"""A picture of a set: made with no steps and nothing learnt; two axes are written on one line, and made once."""

import torch

device = torch.device("cuda")
width, height = torch.linspace(-2, 1, 30, device=device), torch.linspace(-1, 1, 20, device=device)  # fmt: skip  # expect no SP402
points = torch.complex(width.expand(20, 30), height.unsqueeze(1).expand(20, 30))
values = torch.zeros_like(points)
inside = torch.zeros(20, 30, device=device)
for _ in range(12):
    values = torch.where(values.abs() < 2, values * values + points, values)
    inside += values.abs() < 2
print(inside.mean())
