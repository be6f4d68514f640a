"""Actions drawn from a policy's probabilities, with a torch that checks them on the host."""
# torch before 2.5

import torch
from torch import nn

device = torch.device("cuda")


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 3)

    def act(self, x):
        probabilities = self.head(x).softmax(-1)
        return torch.multinomial(probabilities, 1).squeeze(1)  # expect SP307, no SP305, no SP100


policy = Policy().to(device)
x = torch.randn(8, 4, device=device)
with torch.no_grad():
    for step in range(5):
        x = x + policy.act(x).unsqueeze(1)  # no SP301
