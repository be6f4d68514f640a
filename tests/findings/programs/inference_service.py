"""Requests answered one by one: each is a batch of one, and its answer is read."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4)).to(device)


def classify(requests):
    answers = []
    for request in requests:  # expect SP501
        scores = model(request.unsqueeze(0))
        answers.append(scores.argmax(dim=1).item())  # expect SP101
    return answers


with torch.no_grad():
    for _ in range(3):
        classify(list(torch.randn(10, 6, device=device)))
