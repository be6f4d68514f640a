"""A moving average that keeps its counter on the device, and a count that matters only at the end of an epoch."""

import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
taken = torch.zeros((), dtype=torch.int64, device=device)
x = torch.randn(8, 4, device=device)
labels = torch.randint(2, (8,), device=device)
best = average = 0.0
for epoch in range(2):
    correct = 0
    for batch in x.split(2):
        logits = model(batch)
        loss = logits.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        taken += 1
        number = taken.item()  # expect SP106, no SP103
        is_due = number % 2 == 0
        if is_due and number > 1:
            average = 0.9 * average + 0.1 * loss.detach()
        hits = (logits.argmax(1) == labels[:2]).sum().item()  # expect SP103, no SP106
        correct += hits
    if correct > best:
        best = correct
