"""A small transformer, with mixed precision and a scheduler."""

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"


def main():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    embedding, encoder = nn.Embedding(11, 8).to(device), nn.TransformerEncoder(layer, 1).to(device)
    head = nn.Linear(8, 11).to(device)
    parameters = [*embedding.parameters(), *encoder.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(parameters)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    tokens = torch.randint(0, 11, (5, 2, 6))
    for batch in tokens:
        batch = batch.to(device)
        with torch.autocast(device, dtype=torch.bfloat16):
            scores = head(encoder(embedding(batch[:, :-1])))
            loss = nn.functional.cross_entropy(scores.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        scheduler.step()


if __name__ == "__main__":
    main()
