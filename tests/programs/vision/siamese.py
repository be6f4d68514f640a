"""Two images through one network: are they of the same class?"""
# syncs per step: 5
# first blamed line: first, second, targets = (part.to(device) for part in batch)

import random
import sys

import torch
from torch import nn

device = torch.device(sys.argv[1])
random.seed(26)
torch.manual_seed(26)


class Pairs(torch.utils.data.Dataset):
    def __init__(self):
        self.images = torch.randn(4, 1, 12, 12)

    def __len__(self):
        return 32

    def __getitem__(self, at):
        first, same = random.randrange(4), at % 2
        second = first if same else (first + random.randrange(1, 4)) % 4
        noisy = [self.images[which] + 0.1 * torch.randn(1, 12, 12) for which in (first, second)]
        return *noisy, torch.tensor(same, dtype=torch.float)


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(3)
        )
        self.head = nn.Sequential(
            nn.Linear(144, 16), nn.ReLU(inplace=True), nn.Linear(16, 1), nn.Sigmoid()
        )

    def forward(self, first, second):
        return self.head(torch.cat([self.body(x).flatten(1) for x in (first, second)], 1)).squeeze()


model = Siamese().to(device)
optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
criterion = nn.BCELoss()
for step, batch in enumerate(torch.utils.data.DataLoader(Pairs(), batch_size=8)):
    first, second, targets = (part.to(device) for part in batch)
    optimizer.zero_grad()
    outputs = model(first, second)
    loss = criterion(outputs, targets)
    loss.backward()
    optimizer.step()
    right = torch.where(outputs > 0.5, 1, 0).eq(targets).sum().item()
    print(step, loss.item(), right)
print(model.body[1].running_mean.tolist(), model.body[1].num_batches_tracked.item())
