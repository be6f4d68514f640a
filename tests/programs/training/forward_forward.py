"""Layers that learn on their own: goodness of good and bad inputs, no gradient between layers."""
# syncs per step: 1/6
# first blamed line: return self.forward(good).detach(), self.forward(bad).detach(), loss.item()

import sys

import torch
from torch import nn

device = torch.device(sys.argv[1])
torch.manual_seed(36)


class Layer(nn.Linear):
    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        self.optimizer = None

    def forward(self, x):
        direction = x / (x.norm(2, 1, keepdim=True) + 1e-4)
        return torch.relu(torch.mm(direction, self.weight.T) + self.bias.unsqueeze(0))

    def learn(self, good, bad):
        if self.optimizer is None:
            self.optimizer = torch.optim.Adam(self.parameters(), lr=0.03)
        for _ in range(4):
            better, worse = self.forward(good).pow(2).mean(1), self.forward(bad).pow(2).mean(1)
            loss = torch.log(1 + torch.exp(torch.cat([2.0 - better, worse - 2.0]))).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return self.forward(good).detach(), self.forward(bad).detach(), loss.item()


def labelled(x, y):
    x = x.clone()
    x[:, :4] *= 0.0
    x[range(x.shape[0]), y] = x.max()
    return x


x, y = torch.rand(32, 20).to(device), torch.randint(4, (32,)).to(device)
layers = [Layer(20, 24).to(device), Layer(24, 24).to(device)]
good, bad = labelled(x, y), labelled(x, y[torch.randperm(32)])
for layer in layers:
    good, bad, loss = layer.learn(good, bad)
    print(loss)
scores = []
for label in range(4):
    hidden, goodness = labelled(x, label), 0
    for layer in layers:
        hidden = layer(hidden)
        goodness = goodness + hidden.pow(2).mean(1)
    scores.append(goodness.unsqueeze(1))
print(torch.cat(scores, 1).argmax(1).eq(y).float().mean().item())
