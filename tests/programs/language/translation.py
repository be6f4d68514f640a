"""nn.Transformer on sequences to be reversed: causal mask, warm-up schedule, greedy decoding."""
# syncs per step: 1
# first blamed line: print(step, f"{loss:.9f}", warmup.get_last_lr())

import sys

import torch
from torch import nn

device = torch.device(sys.argv[1])
torch.manual_seed(18)
WORDS, WIDTH, LENGTH = 12, 16, 6
model = nn.ModuleDict(
    {
        "words": nn.Embedding(WORDS, WIDTH),
        "places": nn.Embedding(LENGTH + 1, WIDTH),
        "body": nn.Transformer(WIDTH, 2, 1, 1, 32, dropout=0.0, batch_first=True),
        "head": nn.Linear(WIDTH, WORDS),
    }
).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, betas=(0.9, 0.98))
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 5))


def embed(tokens):
    return model["words"](tokens) + model["places"](torch.arange(tokens.size(1), device=device))


def decode(source, target):
    mask = nn.Transformer.generate_square_subsequent_mask(target.size(1), device=device)
    return model["head"](
        model["body"](embed(source), embed(target), tgt_mask=mask, tgt_is_causal=True)
    )


for step in range(10):
    source = torch.randint(1, WORDS, (8, LENGTH), device=device)
    wanted = source.flip(1)
    begun = torch.cat([torch.zeros_like(wanted[:, :1]), wanted], dim=1)
    logits = decode(source, begun[:, :-1])
    loss = nn.functional.cross_entropy(logits.transpose(1, 2), wanted)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    warmup.step()
    print(step, f"{loss:.9f}", warmup.get_last_lr())
model.eval()
source = torch.tensor([[1, 2, 3, 4, 5, 6]], device=device)
said = torch.zeros(1, 1, dtype=torch.long, device=device)
with torch.inference_mode():
    while said.size(1) <= LENGTH:
        said = torch.cat([said, decode(source, said)[:, -1:].argmax(-1)], dim=1)
        if said[0, -1] == 0:
            break
print(said.cpu().numpy())
