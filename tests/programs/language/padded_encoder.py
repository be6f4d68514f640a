"""A transformer encoder for sentences of many lengths: training, then eval with a padding mask."""
# syncs per step: 1
# first blamed line: print(step, loss.item())

import sys

import torch
from torch import nn

device = torch.device(sys.argv[1])
torch.manual_seed(17)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(40, 16, padding_idx=0)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(16, 2)

    def forward(self, tokens):
        padding = tokens == 0
        x = self.encoder(self.words(tokens), src_key_padding_mask=padding)
        kept = (~padding).unsqueeze(-1)
        return self.head((x * kept).sum(1) / kept.sum(1))


lengths = torch.randint(3, 11, (24,))
tokens = torch.randint(1, 40, (24, 10)).masked_fill(torch.arange(10) >= lengths[:, None], 0)
labels = (tokens.sum(1) % 2).to(device)
tokens = tokens.to(device)
model = Classifier().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(6):
    loss = nn.functional.cross_entropy(model(tokens), labels, label_smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
model.eval()
with torch.no_grad():
    for row in model(tokens).tolist():
        print(*row)
