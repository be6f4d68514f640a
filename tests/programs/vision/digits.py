"""Classifies synthetic digits: a convolutional network, a loader, an epoch of testing."""
# syncs per step: 44/15
# first blamed line: inputs.to(device)

import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device(sys.argv[1])
torch.manual_seed(0)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 8, 3), nn.Conv2d(8, 16, 3)
        self.dropout = nn.Dropout(0.25)
        self.hidden, self.out = nn.Linear(16 * 6 * 6, 32), nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.second(F.relu(self.first(x))))
        x = torch.flatten(self.dropout(F.max_pool2d(x, 2)), 1)
        return F.log_softmax(self.out(F.relu(self.hidden(x))), dim=1)


patterns = torch.randn(10, 1, 16, 16)
labels = torch.randint(10, (192,))
images = patterns[labels] + 0.3 * torch.randn(192, 1, 16, 16)
train = DataLoader(TensorDataset(images[:128], labels[:128]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(images[128:], labels[128:]), batch_size=32)

model = Network().to(device)
optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
for epoch in range(2):
    model.train()
    for inputs, targets in train:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        loss = F.nll_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        print(epoch, loss.item())
    model.eval()
    missed, correct = 0.0, 0
    with torch.no_grad():
        for inputs, targets in test:
            inputs, targets = inputs.to(device), targets.to(device)
            output = model(inputs)
            missed += F.nll_loss(output, targets, reduction="sum").item()
            correct += output.argmax(1, keepdim=True).eq(targets.view(-1, 1)).sum().item()
    print(missed / 64, correct)
    scheduler.step()
print(sum(weight.abs().sum().item() for weight in model.parameters()))
