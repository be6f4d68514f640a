"""Batches that are dictionaries, moved in a comprehension."""

import torch

device = torch.device("cuda")
batches = [{"ids": torch.arange(8), "mask": torch.ones(8)} for _ in range(4)]
total = torch.zeros((), device=device)
for batch in batches:
    batch = {k: v.to(device, non_blocking=True) for k, v in batch.items()}  # expect SP202, no SP206
    total += (batch["ids"] * batch["mask"]).sum()
