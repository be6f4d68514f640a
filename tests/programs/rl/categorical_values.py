"""C51: a distribution of returns over fixed atoms, projected by hand."""
# syncs per step: 238/19
# first blamed line: x, a, r, following, end = (torch.as_tensor(np.stack(part)).to(device) for part in zip(*rows))

import sys

import gymnasium as gym
import numpy as np
import torch
from torch import nn

device = torch.device(sys.argv[1])
np.random.seed(8)
torch.manual_seed(8)
ATOMS, LOW, HIGH = 21, -10.0, 10.0


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("atoms", torch.linspace(LOW, HIGH, steps=ATOMS))
        self.body = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2 * ATOMS))

    def decide(self, x, action=None):
        chances = torch.softmax(self.body(x).view(len(x), 2, ATOMS), dim=2)
        if action is None:
            action = torch.argmax((chances * self.atoms).sum(2), 1)
        return action, chances[torch.arange(len(x)), action]


env = gym.make("CartPole-v1")
online, target = Network().to(device), Network().to(device)
target.load_state_dict(online.state_dict())
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3, eps=0.01 / 32)
memory, (state, _) = [], env.reset(seed=8)
for step in range(60):
    if np.random.rand() < 0.3:
        action = np.random.randint(2)
    else:
        action = online.decide(torch.Tensor(state[None]).to(device))[0].cpu().numpy()[0]
    new, reward, terminated, truncated, _ = env.step(action)
    memory.append((state, action, np.float32(reward), new, np.float32(terminated)))
    state = env.reset()[0] if terminated or truncated else new
    if step < 20 or step % 2:
        continue
    rows = [memory[at] for at in np.random.randint(len(memory), size=16)]
    x, a, r, following, end = (torch.as_tensor(np.stack(part)).to(device) for part in zip(*rows))
    with torch.no_grad():
        _, ahead = target.decide(following)
        atoms = r[:, None] + 0.99 * target.atoms * (1 - end[:, None])
        places = (atoms.clamp(LOW, HIGH) - LOW) / (target.atoms[1] - target.atoms[0])
        lower = places.floor().clamp(0, ATOMS - 1)
        upper = places.ceil().clamp(0, ATOMS - 1)
        to_lower = (upper + (lower == upper).float() - places) * ahead
        to_upper = (places - lower) * ahead
        wanted = torch.zeros_like(ahead)
        for row in range(len(wanted)):
            wanted[row].index_add_(0, lower[row].long(), to_lower[row])
            wanted[row].index_add_(0, upper[row].long(), to_upper[row])
    _, old = online.decide(x, a.flatten())
    loss = (-(wanted * old.clamp(min=1e-5, max=1 - 1e-5).log()).sum(-1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item(), (old * target.atoms).sum(1).mean().item())
print(sum(weight.abs().sum().item() for weight in online.parameters()))
