"""A graph network: messages gathered along edges and added up, normalised by degree."""
# syncs per step: 39/9
# first blamed line: loss = F.nll_loss(output[is_train], labels[is_train])

import sys

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device(sys.argv[1])
torch.manual_seed(35)


class Convolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(inputs, outputs)))

    def forward(self, x, edges):
        source, target = edges
        degree = torch.zeros(len(x), device=x.device).scatter_add_(
            0, target, torch.ones_like(target, dtype=x.dtype)
        )
        scale = degree.clamp(min=1).rsqrt()
        messages = (x @ self.weight)[source] * (scale[source] * scale[target]).unsqueeze(1)
        return torch.zeros(len(x), messages.size(1), device=x.device).index_add_(
            0, target, messages
        )


labels = torch.randint(3, (30,))
edges = torch.randint(30, (2, 120))
loops = torch.arange(30).repeat(2, 1)
edges = torch.cat([edges[:, labels[edges[0]] == labels[edges[1]]], loops], dim=1).to(device)
features, labels = torch.randn(30, 6).to(device), labels.to(device)
is_train = torch.rand(30).to(device) < 0.5
first, second = Convolution(6, 16).to(device), Convolution(16, 3).to(device)
optimizer = torch.optim.Adam(
    [*first.parameters(), *second.parameters()], lr=0.05, weight_decay=5e-4
)
for epoch in range(10):
    optimizer.zero_grad()
    hidden = F.dropout(F.relu(first(features, edges)), 0.2)
    output = F.log_softmax(second(hidden, edges), dim=1)
    loss = F.nll_loss(output[is_train], labels[is_train])
    loss.backward()
    optimizer.step()
    if epoch % 3 == 0:
        right = (output.argmax(1)[~is_train] == labels[~is_train]).float().mean()
        print(epoch, loss.item(), right.item())
print(first.weight.sum().item())
