"""Fixed points, asked about in each turn: of the program itself, and of a function that is called for each goal."""

import torch

device = torch.device("cuda")
matrix = torch.eye(4, device=device) * 0.5
goal = torch.ones(4, device=device)

x = torch.zeros(4, device=device)
error = torch.ones((), device=device)
while error.item() > 0.01:  # expect SP106, no SP100
    new = matrix @ x + goal
    error = (new - x).abs().max()
    x = new


def solve(goal):
    x = goal
    distance = 1.0
    while distance > 0.01:
        new = matrix @ x + goal
        distance = (new - x).abs().max().item()  # expect SP106, no SP101, no SP103
        x = new
    return x


goals = torch.ones(3, 4, device=device)
for turn in range(2):
    solutions = [solve(goal) for goal in goals]  # no SP501
