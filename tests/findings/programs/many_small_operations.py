"""A loop of small operations inside a function that the program calls once per step."""

import torch


def physics(position, velocity):
    for substep in range(10):  # expect SP502
        position = position + 0.1 * velocity
        velocity = velocity - 0.1 * position
    return position, velocity


def main():
    device = torch.device("cuda")
    position, velocity = torch.zeros(8, device=device), torch.ones(8, device=device)
    for step in range(5):
        position, velocity = physics(position, velocity)  # no SP502


main()
