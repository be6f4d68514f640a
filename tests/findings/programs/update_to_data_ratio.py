"""Several updates per step of the environment: acting is no less a step for that."""

import numpy as np
import torch
from torch import nn

device = torch.device("cuda")
policy = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1, fused=True)
memory = torch.randn(64, 4, device=device)


class Env:
    def step(self, action):
        return np.zeros(4, dtype=np.float32)


env, state = Env(), np.zeros(4, dtype=np.float32)
for step in range(6):
    with torch.no_grad():
        action = policy(torch.tensor(state, device=device))  # expect SP401, no SP204
    state = env.step(action.cpu().numpy())  # expect SP207
    for _ in range(4):
        loss = policy(memory[torch.randint(0, 64, (8,), device=device)]).square().mean()  # no SP501
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
