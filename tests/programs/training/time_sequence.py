"""LSTM cells by hand on sine waves, fitted with LBFGS, then a look ahead."""
# syncs per step: 29
# first blamed line: optimizer.step(closure)

import sys

import torch
from torch import nn

device = torch.device(sys.argv[1])
torch.manual_seed(34)


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.out = nn.LSTMCell(1, 8), nn.LSTMCell(8, 8), nn.Linear(8, 1)

    def forward(self, waves, future=0):
        h1, c1, h2, c2 = (
            torch.zeros(len(waves), 8, dtype=waves.dtype, device=waves.device) for _ in range(4)
        )
        outputs = []
        for now in waves.split(1, dim=1):
            h1, c1 = self.first(now, (h1, c1))
            h2, c2 = self.second(h1, (h2, c2))
            outputs.append(self.out(h2))
        for _ in range(future):
            h1, c1 = self.first(outputs[-1], (h1, c1))
            h2, c2 = self.second(h1, (h2, c2))
            outputs.append(self.out(h2))
        return torch.cat(outputs, dim=1)


waves = torch.sin((torch.arange(20.0) + torch.randint(-4, 4, (6, 1))) / 3).double().to(device)
model, criterion = Sequence().double().to(device), nn.MSELoss()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.8, max_iter=3, line_search_fn="strong_wolfe")
for step in range(2):

    def closure():
        optimizer.zero_grad()
        loss = criterion(model(waves[2:, :-1]), waves[2:, 1:])
        print("loss:", loss.item())
        loss.backward()
        return loss

    optimizer.step(closure)
    with torch.no_grad():
        ahead = model(waves[:2, :-1], future=5)
        print(
            "test:",
            criterion(ahead[:, :-5], waves[:2, 1:]).item(),
            ahead.cpu().numpy()[:, -5:].sum(),
        )
