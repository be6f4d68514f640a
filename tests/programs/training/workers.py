"""A loader with workers, pinned memory and a collate function of its own; uploads do not wait."""
# syncs per step: 0
# first blamed line: none

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

device = sys.argv[1]
torch.manual_seed(31)


class Sentences(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, at):
        length = 3 + at % 5
        return torch.arange(at, at + length) % 20, at % 2


def padded(rows):
    sentences = nn.utils.rnn.pad_sequence([sentence for sentence, _ in rows], batch_first=True)
    return {"tokens": sentences, "labels": torch.tensor([label for _, label in rows])}


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.EmbeddingBag(20, 8, padding_idx=0), nn.Linear(8, 2)

    def forward(self, tokens):
        return self.head(self.words(tokens))


model = Bag().to(device)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
loader = DataLoader(
    Sentences(),
    batch_size=8,
    shuffle=True,
    num_workers=1,
    pin_memory=device == "cuda",
    collate_fn=padded,
    multiprocessing_context="fork",
)
losses = []
for epoch in range(2):
    for batch in loader:
        batch = {name: part.to(device, non_blocking=True) for name, part in batch.items()}
        loss = nn.functional.cross_entropy(model(batch["tokens"]), batch["labels"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
print(torch.stack(losses).tolist())
