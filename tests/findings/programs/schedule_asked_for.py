"""A schedule that a generator hands out, one value for each step of an environment; updates are rarer."""

import torch

device = torch.device("cuda")
net = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def decay(start, rate):
    value = torch.full((), start, device=device)
    while True:  # no SP502
        value = value * rate
        yield value


schedule = decay(1.0, 0.9)
for turn in range(32):
    noise = next(schedule)
    if turn % 8 == 7:
        loss = net(torch.randn(16, 4, device=device) * noise).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
