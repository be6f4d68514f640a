"""REINFORCE with one read of the action per step, in a loop that no one has marked."""

import numpy as np
import torch
from torch import nn

device = torch.device("cuda")
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2)).to(device)
optimizer = torch.optim.Adam(policy.parameters(), fused=True)


class Env:
    def reset(self):
        self.left = 6
        return np.zeros(4, dtype=np.float32)

    def step(self, action):
        self.left -= 1
        return np.random.randn(4).astype(np.float32), float(action), self.left == 0


env = Env()
for episode in range(3):
    observation, done, log_probs, rewards = env.reset(), False, [], []
    while not done:
        state = torch.from_numpy(observation).to(device)  # expect SP206, no SP204
        logits = policy(state)  # no SP501
        log_prob = logits.log_softmax(-1)
        action = (log_prob.detach().exp() > 0.5).float().argmax()
        log_probs.append(log_prob.max())
        observation, reward, done = env.step(action.item())  # expect SP207, no SP103, no SP100
        rewards.append(reward)
    loss = -torch.stack(log_probs).sum() * sum(rewards)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
