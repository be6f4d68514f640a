"""DDPG: one critic, a deterministic actor, noise from its own scale, slow targets."""
# syncs per step: 142/33
# first blamed line: action = actor(torch.Tensor(state).to(device)) * scale

import copy
import sys

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

device = torch.device(sys.argv[1])
np.random.seed(9)
torch.manual_seed(9)
env = gym.make("Pendulum-v1")
scale = torch.tensor((env.action_space.high - env.action_space.low) / 2.0).to(device)
actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh()).to(device)
critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1)).to(device)
slow_actor, slow_critic = copy.deepcopy(actor), copy.deepcopy(critic)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
memory, (state, _) = [], env.reset(seed=9)
for step in range(50):
    with torch.no_grad():
        action = actor(torch.Tensor(state).to(device)) * scale
        action += torch.normal(0, scale * 0.1)
        action = action.cpu().numpy().clip(env.action_space.low, env.action_space.high)
    new, reward, _, _, _ = env.step(action)
    memory.append(np.concatenate([state, action, [reward], new]).astype(np.float32))
    state = new
    if step < 16:
        continue
    batch = np.stack([memory[at] for at in np.random.randint(len(memory), size=16)])
    x, a, r, following = torch.tensor(batch, device=device).split([3, 1, 1, 3], dim=1)
    with torch.no_grad():
        ahead = slow_critic(torch.cat([following, slow_actor(following) * scale], 1))
        wanted = r.flatten() + 0.99 * ahead.view(-1)
    critic_loss = F.mse_loss(critic(torch.cat([x, a], 1)).view(-1), wanted)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    actor_loss = -critic(torch.cat([x, actor(x) * scale], 1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    for slow, fast in ((slow_actor, actor), (slow_critic, critic)):
        for behind, ahead in zip(slow.parameters(), fast.parameters()):
            behind.data.lerp_(ahead.data, 0.05)
    if step % 8 == 0:
        print(step, critic_loss.item(), actor_loss.item())
print(sum(weight.abs().sum().item() for weight in actor.parameters()))
