"""Double DQN with priorities: drawn on the host from errors that are read back."""
# syncs per step: 86/14
# first blamed line: a, r = torch.LongTensor(actions[rows]).to(device), torch.FloatTensor(rewards[rows]).to(device)

import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

device = torch.device(sys.argv[1])
np.random.seed(15)
torch.manual_seed(15)


class Duel(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(5, 32)
        self.advantage, self.value = nn.Linear(32, 3), nn.Linear(32, 1)

    def forward(self, x):
        x = F.relu(self.body(x))
        advantage = self.advantage(x)
        return self.value(x) + advantage - advantage.mean(1, keepdim=True)


online, target = Duel().to(device), Duel().to(device)
target.load_state_dict(online.state_dict())
optimizer = torch.optim.RMSprop(online.parameters(), lr=1e-3)
states = np.random.randn(100, 5).astype(np.float32)
actions, rewards = np.random.randint(3, size=100), np.random.randn(100).astype(np.float32)
priorities = np.ones(99)
for step in range(15):
    chances = priorities**0.6 / (priorities**0.6).sum()
    rows = np.random.choice(99, 16, p=chances)
    weights = (99 * chances[rows]) ** -0.4
    weights = torch.FloatTensor(weights / weights.max()).to(device)
    x, following = torch.FloatTensor(states[rows]).to(device), torch.FloatTensor(states[rows + 1])
    a, r = torch.LongTensor(actions[rows]).to(device), torch.FloatTensor(rewards[rows]).to(device)
    following = following.to(device)
    with torch.no_grad():
        best = online(following).argmax(1, keepdim=True)
        wanted = r + 0.9 * target(following).gather(1, best).squeeze(1)
    error = online(x).gather(1, a.unsqueeze(1)).squeeze(1) - wanted
    loss = (weights * F.huber_loss(error, torch.zeros_like(error), reduction="none")).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    priorities[rows] = error.detach().abs().cpu().numpy() + 1e-6
    if step % 5 == 4:
        target.load_state_dict(online.state_dict())
        print(step, loss.item(), priorities.sum())
print(sum(weight.abs().sum().item() for weight in online.parameters()))
