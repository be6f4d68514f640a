"""Actor and critic with one body; losses of an episode are stacked and summed."""
# syncs per step: 132
# first blamed line: chances, value = model(torch.from_numpy(state).to(device))

import sys

import gymnasium as gym
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

device = sys.argv[1]
torch.manual_seed(13)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.action, self.value = nn.Linear(4, 32), nn.Linear(32, 2), nn.Linear(32, 1)
        self.kept = []

    def forward(self, x):
        x = F.relu(self.body(x))
        return F.softmax(self.action(x), dim=-1), self.value(x)


env = gym.make("CartPole-v1")
model = Policy().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
running = 10.0
for episode in range(5):
    state, _ = env.reset(seed=episode)
    rewards = []
    for _ in range(30):
        chances, value = model(torch.from_numpy(state).to(device))
        chosen = Categorical(chances)
        action = chosen.sample()
        model.kept.append((chosen.log_prob(action), value))
        state, reward, terminated, *_ = env.step(action.item())
        rewards.append(reward)
        if terminated:
            break
    running = 0.05 * sum(rewards) + 0.95 * running
    returns, total = [], 0.0
    for reward in rewards[::-1]:
        total = reward + 0.99 * total
        returns.insert(0, total)
    returns = torch.tensor(returns, device=device)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    policy_losses, value_losses = [], []
    for (log_prob, value), wanted in zip(model.kept, returns):
        policy_losses.append(-log_prob * (wanted - value.item()))
        value_losses.append(F.smooth_l1_loss(value, wanted.unsqueeze(0)))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    model.kept.clear()
    print(episode, running, loss.item())
print(sum(weight.abs().sum().item() for weight in model.parameters()))
