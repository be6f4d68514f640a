"""TD3: two critics, smoothed targets, an actor that learns every second time."""
# syncs per step: 109/33
# first blamed line: observation = torch.from_numpy(state).to(device, non_blocking=True)

import copy
import sys

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

device = torch.device(sys.argv[1])
np.random.seed(10)
torch.manual_seed(10)
env = gym.make("Pendulum-v1")
LIMIT = float(env.action_space.high[0])
actor = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1), nn.Tanh()).to(device)
critics = nn.ModuleList(
    nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1)) for _ in range(2)
).to(device)
slow_actor, slow_critics = copy.deepcopy(actor), copy.deepcopy(critics)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critics.parameters(), lr=1e-3)
memory, (state, _) = [], env.reset(seed=10)
for step in range(50):
    observation = torch.from_numpy(state).to(device, non_blocking=True)
    with torch.no_grad():
        action = LIMIT * actor(observation).cpu().numpy()
    action = (action + np.random.normal(0, 0.2, 1)).clip(-LIMIT, LIMIT)
    new, reward, _, _, _ = env.step(action)
    memory.append(np.concatenate([state, action, [reward], new]).astype(np.float32))
    state = new
    if step < 16:
        continue
    batch = np.stack([memory[at] for at in np.random.randint(len(memory), size=16)])
    x, a, r, following = torch.from_numpy(batch).to(device).split([3, 1, 1, 3], dim=1)
    with torch.no_grad():
        noise = (torch.randn_like(a) * 0.2).clamp(-0.5, 0.5)
        smoothed = (LIMIT * slow_actor(following) + noise).clamp(-LIMIT, LIMIT)
        pair = [critic(torch.cat([following, smoothed], 1)) for critic in slow_critics]
        wanted = r + 0.99 * torch.minimum(*pair)
    critic_loss = sum(F.mse_loss(critic(torch.cat([x, a], 1)), wanted) for critic in critics)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    if step % 2 == 0:
        actor_loss = -critics[0](torch.cat([x, LIMIT * actor(x)], 1)).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
        with torch.no_grad():
            slow = [*slow_actor.parameters(), *slow_critics.parameters()]
            fast = [*actor.parameters(), *critics.parameters()]
            torch._foreach_lerp_(slow, fast, 0.05)
    if step % 8 == 0:
        print(step, float(critic_loss), float(actor_loss))
print(sum(weight.abs().sum().item() for weight in actor.parameters()))
