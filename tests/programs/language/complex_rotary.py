"""Attention with rotary positions as complex numbers, root-mean-square norms and gated layers."""
# syncs per step: 1
# first blamed line: loss.item()

import sys

import torch
import torch.nn.functional as F
from torch import nn

device = sys.argv[1]
torch.manual_seed(5)
WIDTH, HEADS, LENGTH, WORDS = 32, 4, 12, 20


def rotations(size, length):
    speeds = 1.0 / 10_000 ** (torch.arange(0, size, 2).float() / size)
    angles = torch.outer(torch.arange(length), speeds)
    return torch.polar(torch.ones_like(angles), angles)


def rotate(x, turns):
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turns[None, :, None, :]).flatten(3).type_as(x)


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.gate, self.up = (nn.Linear(WIDTH, 2 * WIDTH, bias=False) for _ in range(2))
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)
        self.before, self.between = Norm(), Norm()

    def forward(self, x, turns):
        y = self.before(x)
        q, k, v = (part(y).view(*x.shape[:2], HEADS, -1) for part in (self.q, self.k, self.v))
        q, k = rotate(q, turns), rotate(k, turns)
        seen = F.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True
        )
        x = x + self.out(seen.transpose(1, 2).reshape(x.shape))
        y = self.between(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


words, head = nn.Embedding(WORDS, WIDTH).to(device), nn.Linear(WIDTH, WORDS).to(device)
layers = nn.ModuleList(Layer() for _ in range(2)).to(device)
turns = rotations(WIDTH // HEADS, LENGTH).to(device)
weights = [*words.parameters(), *layers.parameters(), *head.parameters()]
optimizer = torch.optim.AdamW(weights, lr=1e-2)
text = torch.randint(WORDS, (8, LENGTH + 1), device=device)
for step in range(10):
    x = words(text[:, :-1])
    for layer in layers:
        x = layer(x, turns)
    loss = F.cross_entropy(head(x).flatten(0, 1), text[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(sum(weight.abs().sum().item() for weight in weights))
