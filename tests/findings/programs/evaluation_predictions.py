"""Predictions of all batches, each brought to the host as a whole, and hits counted one by one, two statements to a line."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(8, 3).to(device)
inputs = torch.randn(40, 8, device=device)


def predict(model, inputs):
    outputs = []
    with torch.no_grad():
        for batch in inputs.split(8):
            outputs.append(model(batch).cpu())  # expect SP103, no SP201, no SP501
    return torch.cat(outputs)


def hit_rate(model, inputs, labels):
    hits = total = 0
    for batch, wanted in zip(inputs.split(8), labels.split(8)):
        for found, label in zip(model(batch).argmax(dim=1), wanted):
            # fmt: off
            hits += int(found.item() == label.item()); total += 1  # expect SP101, no SP103
            # fmt: on
    return hits / total


print(predict(model, inputs).shape)
print(hit_rate(model, inputs, torch.zeros(40)))
