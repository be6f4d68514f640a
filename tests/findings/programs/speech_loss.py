"""Speech recognition: a CTC loss with lengths, at each batch."""

import torch
from torch import nn

device = torch.device("cuda")
logits = torch.randn(12, 2, 5, device=device, requires_grad=True)
targets = torch.randint(1, 5, (2, 4), device=device)
lengths, sizes = torch.full((2,), 12), torch.full((2,), 4)
for batch in range(3):
    log_probs = logits.log_softmax(-1)
    loss = nn.functional.ctc_loss(log_probs, targets, lengths, sizes)  # expect SP300, no SP203
    logits.grad = None
    loss.backward()  # expect SP200, no SP206
