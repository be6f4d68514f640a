"""A word language model: an LSTM over slices of one long text, its state detached between them."""
# syncs per step: 48
# first blamed line: print(batch, loss.item(), math.exp(loss.item()))

import math
import sys

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device(sys.argv[1])
torch.manual_seed(16)
WORDS, WIDTH, BATCH, SLICE = 30, 24, 4, 7


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop, self.encoder = nn.Dropout(0.2), nn.Embedding(WORDS, WIDTH)
        self.rnn, self.decoder = nn.LSTM(WIDTH, WIDTH, 2, dropout=0.2), nn.Linear(WIDTH, WORDS)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)

    def forward(self, tokens, hidden):
        output, hidden = self.rnn(self.drop(self.encoder(tokens)), hidden)
        return F.log_softmax(self.decoder(self.drop(output)).view(-1, WORDS), dim=1), hidden

    def fresh(self):
        weight = next(self.parameters())
        return weight.new_zeros(2, BATCH, WIDTH), weight.new_zeros(2, BATCH, WIDTH)


text = (torch.arange(BATCH * 60) * 7 % WORDS).view(BATCH, -1).t().contiguous().to(device)
model, criterion = Model().to(device), nn.NLLLoss()
total, hidden = 0.0, model.fresh()
for batch, start in enumerate(range(0, len(text) - 1 - SLICE, SLICE)):
    data = text[start : start + SLICE]
    targets = text[start + 1 : start + 1 + SLICE].view(-1)
    model.zero_grad()
    hidden = tuple(part.detach() for part in hidden)
    output, hidden = model(data, hidden)
    loss = criterion(output, targets)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    for weight in model.parameters():
        weight.data.add_(weight.grad, alpha=-5.0)
    total += loss.item()
    print(batch, loss.item(), math.exp(loss.item()))
print(total, sum(weight.abs().sum().item() for weight in model.parameters()))
