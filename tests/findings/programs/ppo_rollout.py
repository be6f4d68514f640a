"""PPO: a rollout of whole batches of environments, then epochs of minibatches."""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

device = torch.device("cuda")
actor, critic = nn.Linear(4, 2).to(device), nn.Linear(4, 1).to(device)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], fused=True)


class Envs:
    def step(self, actions):
        return np.random.randn(6, 4).astype(np.float32), np.ones(6, dtype=np.float32)


envs = Envs()
obs = torch.zeros(6, 4, device=device)
for update in range(2):
    kept = []
    for step in range(8):
        with torch.no_grad():
            dist = Categorical(logits=actor(obs))  # expect SP301, no SP501
            action = dist.sample()  # no SP307
        next_obs, reward = envs.step(action.cpu().numpy())  # expect SP207, no SP201
        kept.append((obs, action, dist.log_prob(action)))  # expect SP301
        obs = torch.tensor(next_obs).to(device)  # expect SP401
    states = torch.cat([k[0] for k in kept])
    actions = torch.cat([k[1] for k in kept])
    for start in range(0, 48, 16):
        rows = torch.arange(start, start + 16, device=device)  # no SP402
        dist = Categorical(logits=actor(states[rows]), validate_args=False)  # no SP301
        loss = -(dist.log_prob(actions[rows]) - critic(states[rows]).squeeze(1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")  # no SP103, no SP105
