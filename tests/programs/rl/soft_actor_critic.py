"""SAC in one file: a squashed Gaussian policy, two critics, a temperature that is learnt."""
# syncs per step: 632/39
# first blamed line: normal = torch.distributions.Normal(self.mean(x), log_std.exp())

import sys

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

device = torch.device(sys.argv[1])
np.random.seed(3)
torch.manual_seed(3)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x, a):
        return self.body(torch.cat([x, a], 1))


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 32), nn.ReLU())
        self.mean, self.log_std = nn.Linear(32, 1), nn.Linear(32, 1)
        self.register_buffer("scale", torch.tensor(2.0))

    def sample(self, x):
        x = self.body(x)
        log_std = -5 + 0.5 * 7 * (torch.tanh(self.log_std(x)) + 1)
        normal = torch.distributions.Normal(self.mean(x), log_std.exp())
        drawn = normal.rsample()
        squashed = torch.tanh(drawn)
        log_prob = normal.log_prob(drawn) - torch.log(self.scale * (1 - squashed.pow(2)) + 1e-6)
        return squashed * self.scale, log_prob.sum(1, keepdim=True)


env = gym.make("Pendulum-v1")
env.action_space.seed(3)
actor = Actor().to(device)
critics = [Critic().to(device) for _ in range(2)]
targets = [Critic().to(device) for _ in range(2)]
for slow, fast in zip(targets, critics):
    slow.load_state_dict(fast.state_dict())
q_optimizer = torch.optim.Adam([p for critic in critics for p in critic.parameters()], lr=1e-3)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=3e-4)
log_alpha = torch.zeros(1, requires_grad=True, device=device)
alpha_optimizer = torch.optim.Adam([log_alpha], lr=1e-3)
memory, (state, _) = [], env.reset(seed=3)
for step in range(60):
    if step < 20:
        action = env.action_space.sample()
    else:
        action = actor.sample(torch.Tensor(state[None]).to(device))[0].detach().cpu().numpy()[0]
    new, reward, *_ = env.step(action)
    memory.append((state, action, np.float32(reward), new))
    state = new
    if step < 20:
        continue
    rows = [memory[at] for at in np.random.randint(len(memory), size=16)]
    x, a, r, following = (torch.tensor(np.stack(part), device=device) for part in zip(*rows))
    alpha = log_alpha.exp().item()
    with torch.no_grad():
        ahead, log_prob = actor.sample(following)
        least = torch.min(*(target(following, ahead) for target in targets)) - alpha * log_prob
        wanted = r.flatten() + 0.99 * least.view(-1)
    q_loss = sum(F.mse_loss(critic(x, a).view(-1), wanted) for critic in critics)
    q_optimizer.zero_grad()
    q_loss.backward()
    q_optimizer.step()
    drawn, log_prob = actor.sample(x)
    actor_loss = (alpha * log_prob - torch.min(*(critic(x, drawn) for critic in critics))).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    alpha_loss = (-log_alpha.exp() * (log_prob.detach() - 1)).mean()
    alpha_optimizer.zero_grad()
    alpha_loss.backward()
    alpha_optimizer.step()
    for target, critic in zip(targets, critics):
        for slow, fast in zip(target.parameters(), critic.parameters()):
            slow.data.copy_(0.05 * fast.data + 0.95 * slow.data)
    if step % 10 == 0:
        print(step, q_loss.item(), actor_loss.item(), alpha)
print(sum(weight.abs().sum().item() for weight in actor.parameters()), log_alpha.item())
