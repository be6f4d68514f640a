"""A variational autoencoder: the reparameterisation trick, a summed loss per batch."""
# syncs per step: 26/11
# first blamed line: data = data.to(device)

import sys

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device(sys.argv[1])
torch.manual_seed(22)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.mean, self.log_var = nn.Linear(64, 32), nn.Linear(32, 4), nn.Linear(32, 4)
        self.third, self.fourth = nn.Linear(4, 32), nn.Linear(32, 64)

    def forward(self, x):
        hidden = F.relu(self.first(x.view(-1, 64)))
        mean, log_var = self.mean(hidden), self.log_var(hidden)
        deviation = torch.exp(0.5 * log_var)
        code = mean + torch.randn_like(deviation) * deviation
        return torch.sigmoid(self.fourth(F.relu(self.third(code)))), mean, log_var


def loss_of(rebuilt, x, mean, log_var):
    likelihood = F.binary_cross_entropy(rebuilt, x.view(-1, 64), reduction="sum")
    return likelihood - 0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp())


images = torch.rand(96, 1, 8, 8)
loader = torch.utils.data.DataLoader(images, batch_size=16, shuffle=True)
model = Autoencoder().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    total = 0.0
    for batch, data in enumerate(loader):
        data = data.to(device)
        optimizer.zero_grad()
        loss = loss_of(*(lambda made: (made[0], data, *made[1:]))(model(data)))
        loss.backward()
        total += loss.item()
        optimizer.step()
        if batch % 3 == 0:
            print(epoch, batch, loss.item() / len(data))
    print(epoch, total / len(images))
with torch.no_grad():
    drawn = torch.randn(4, 4).to(device)
    print(torch.sigmoid(model.fourth(F.relu(model.third(drawn)))).cpu().sum().item())
