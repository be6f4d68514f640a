"""Labels of real and fake made for each batch of a GAN."""

import torch
from torch import nn

device = torch.device("cuda")
critic = nn.Linear(4, 1).to(device)
optimizer = torch.optim.Adam(critic.parameters(), fused=True)
real = torch.randn(8, 4, device=device)
for batch in range(4):
    labels = torch.ones(8, 1, device=device)  # expect SP403, no SP206
    loss = nn.functional.binary_cross_entropy_with_logits(critic(real), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
