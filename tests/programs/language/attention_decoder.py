"""A GRU encoder, a decoder with additive attention, teachers now and then."""
# syncs per step: 4
# first blamed line: print(step, is_taught, loss.item(), right.item())

import random
import sys

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device(sys.argv[1])
random.seed(19)
torch.manual_seed(19)
WORDS, WIDTH, LENGTH = 15, 16, 5


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.query, self.key, self.score = (
            nn.Linear(WIDTH, WIDTH),
            nn.Linear(WIDTH, WIDTH),
            nn.Linear(WIDTH, 1),
        )
        self.gru, self.out = nn.GRU(2 * WIDTH, WIDTH, batch_first=True), nn.Linear(WIDTH, WORDS)

    def forward(self, encoded, hidden, targets=None):
        word = torch.zeros(len(encoded), 1, dtype=torch.long, device=device)
        said = []
        for at in range(LENGTH):
            scores = self.score(torch.tanh(self.query(hidden[-1]).unsqueeze(1) + self.key(encoded)))
            context = torch.bmm(F.softmax(scores, 1).transpose(1, 2), encoded)
            output, hidden = self.gru(torch.cat([self.words(word), context], dim=2), hidden)
            said.append(self.out(output))
            word = said[-1].topk(1).indices.squeeze(-1).detach()
            if targets is not None:
                word = targets[:, at].unsqueeze(1)
        return F.log_softmax(torch.cat(said, dim=1), dim=-1)


words = nn.Embedding(WORDS, WIDTH).to(device)
encoder, decoder = nn.GRU(WIDTH, WIDTH, batch_first=True).to(device), Decoder().to(device)
optimizers = [
    torch.optim.Adam([*words.parameters(), *encoder.parameters()], lr=1e-2),
    torch.optim.Adam(decoder.parameters(), lr=1e-2),
]
for step in range(8):
    pairs = [[random.randrange(1, WORDS) for _ in range(LENGTH)] for _ in range(8)]
    source = torch.tensor(pairs, device=device)
    wanted = torch.tensor([sorted(pair) for pair in pairs], device=device)
    for optimizer in optimizers:
        optimizer.zero_grad()
    encoded, hidden = encoder(words(source))
    is_taught = random.random() < 0.5
    said = decoder(encoded, hidden, wanted if is_taught else None)
    loss = F.nll_loss(said.view(-1, WORDS), wanted.view(-1))
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    right = (said.argmax(-1) == wanted).float().mean()
    print(step, is_taught, loss.item(), right.item())
