"""A small GPT on the characters of a sentence: causal attention, AdamW in two groups, then sampling."""
# syncs per step: 3
# first blamed line: .to(device)

import math
import sys

import torch
import torch.nn.functional as F
from torch import nn

device = sys.argv[1]
torch.manual_seed(4)
TEXT = "the ship turned into the wind and the wind turned the ship " * 4
LETTERS = sorted(set(TEXT))
BLOCK, WIDTH, HEADS = 24, 32, 4
data = torch.tensor([LETTERS.index(letter) for letter in TEXT])


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.mixed, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.register_buffer("past", torch.tril(torch.ones(BLOCK, BLOCK)).view(1, 1, BLOCK, BLOCK))

    def attend(self, x):
        batch, length, _ = x.shape
        q, k, v = (
            part.view(batch, length, HEADS, -1).transpose(1, 2)
            for part in self.mixed(x).split(WIDTH, dim=2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        scores = scores.masked_fill(self.past[:, :, :length, :length] == 0, float("-inf"))
        mixed = F.dropout(scores.softmax(-1), 0.1, self.training) @ v
        return self.out(mixed.transpose(1, 2).contiguous().view(batch, length, WIDTH))

    def forward(self, x):
        x = x + self.attend(self.norms[0](x))
        return x + self.narrow(F.gelu(self.wide(self.norms[1](x))))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.place = nn.Embedding(len(LETTERS), WIDTH), nn.Embedding(BLOCK, WIDTH)
        self.layers = nn.Sequential(Layer(), Layer())
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, len(LETTERS), bias=False)
        self.token.weight = self.head.weight

    def forward(self, index, targets=None):
        places = torch.arange(index.size(1), device=index.device)
        logits = self.head(self.norm(self.layers(self.token(index) + self.place(places))))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


model = GPT().to(device)
decayed = [weight for weight in model.parameters() if weight.dim() >= 2]
others = [weight for weight in model.parameters() if weight.dim() < 2]
groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=3e-3, betas=(0.9, 0.95))
for step in range(12):
    starts = torch.randint(len(data) - BLOCK, (8,)).tolist()
    x = torch.stack([data[start : start + BLOCK] for start in starts]).to(device)
    y = torch.stack([data[start + 1 : start + 1 + BLOCK] for start in starts]).to(device)
    _, loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print(step, loss.item())
model.eval()
index = torch.zeros(1, 1, dtype=torch.long, device=device)
with torch.no_grad():
    for _ in range(16):
        logits = model(index[:, -BLOCK:])[0][:, -1] / 0.8
        best, _ = torch.topk(logits, 5)
        logits[logits < best[:, [-1]]] = -float("inf")
        index = torch.cat([index, torch.multinomial(logits.softmax(-1), 1)], dim=1)
print("".join(LETTERS[at] for at in index[0].tolist()))
