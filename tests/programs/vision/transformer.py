"""A vision transformer: patches by a convolution, a class token, blocks, a cosine schedule."""
# syncs per step: 2
# first blamed line: x, y = images.to(device), labels.to(device)

import sys

import torch
from torch import nn

device = torch.device(sys.argv[1])
torch.manual_seed(25)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.wide = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def forward(self, x):
        y = self.before(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.wide(self.between(x))


class Transformer(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, stride=4)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, 17, width) * 0.02)
        self.blocks = nn.Sequential(Block(width), Block(width))
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], dim=1) + self.places
        return self.head(self.blocks(x)[:, 0])


images, labels = torch.randn(16, 3, 16, 16), torch.randint(5, (16,))
model = Transformer().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=6)
correct = torch.zeros((), device=device)
for step in range(6):
    x, y = images.to(device), labels.to(device)
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    schedule.step()
    correct += (logits.argmax(1) == y).sum()
print(loss.item(), correct.item(), schedule.get_last_lr())
model.eval()
with torch.inference_mode():
    print(model(images.to(device)).softmax(-1).amax(1).tolist())
