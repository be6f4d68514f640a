"""Generation with a cache of keys and values, nucleus sampling and an end of text."""
# syncs per step: 1
# first blamed line: if ended.all():

import sys

import torch
import torch.nn.functional as F
from torch import nn

import syncprobe

device = sys.argv[1]
torch.manual_seed(21)
WIDTH, HEADS, WORDS = 32, 4, 50


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.mixed, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x, cache):
        parts = self.mixed(self.norm(x)).chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)
        if cache is not None:
            k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=cache is None)
        return x + self.out(seen.transpose(1, 2).flatten(2)), (k, v)


words = nn.Embedding(WORDS, WIDTH).to(device)
layers = nn.ModuleList(Attention() for _ in range(3)).to(device)
tokens = torch.randint(1, WORDS, (2, 5), device=device)
caches, ended = [None] * len(layers), torch.zeros(2, dtype=torch.bool, device=device)
fresh = tokens
with torch.inference_mode():
    for _ in range(15):
        with syncprobe.step():
            x = words(fresh)
            for at, layer in enumerate(layers):
                x, caches[at] = layer(x, caches[at])
            logits = F.linear(x[:, -1], words.weight) / 0.7
            ordered, order = logits.sort(descending=True)
            above = ordered.softmax(-1).cumsum(-1) - ordered.softmax(-1) > 0.9
            ordered = ordered.masked_fill(above, float("-inf"))
            drawn = torch.multinomial(ordered.softmax(-1), 1)
            fresh = order.gather(1, drawn).masked_fill(ended[:, None], 0)
            ended |= fresh[:, 0] == 0
            tokens = torch.cat([tokens, fresh], dim=1)
            if ended.all():
                break
print(tokens.tolist(), caches[0][0].double().sum().item())
