"""Residual blocks in channels-last order, trained with label smoothing and Nesterov momentum."""
# syncs per step: 3
# first blamed line: print(step, loss.item(), [best[:k].reshape(-1).float().sum().item() for k in (1, 2)])

import sys

import torch
from torch import nn

device = torch.device(sys.argv[1])
torch.manual_seed(27)


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.short = nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
        )

    def forward(self, x):
        return nn.functional.relu(self.main(x) + self.short(x), inplace=True)


model = nn.Sequential(
    nn.Conv2d(3, 8, 3, 1, 1),
    Block(8, 16, 2),
    Block(16, 16, 2),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(16, 4),
)
model = model.to(device, memory_format=torch.channels_last)
optimizer = torch.optim.SGD(
    model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4, nesterov=True
)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=8)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
images = torch.randn(16, 3, 16, 16).to(device, memory_format=torch.channels_last)
labels = torch.randint(4, (16,), device=device)
for step in range(6):
    optimizer.zero_grad()
    logits = model(images)
    loss = criterion(logits, labels)
    loss.backward()
    optimizer.step()
    schedule.step()
    best = logits.topk(2, 1).indices.t().eq(labels.view(1, -1))
    print(step, loss.item(), [best[:k].reshape(-1).float().sum().item() for k in (1, 2)])
print(sum(weight.abs().sum().item() for weight in model.parameters()))
