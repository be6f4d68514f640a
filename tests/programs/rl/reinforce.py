"""REINFORCE: log probabilities kept in a list until the episode is over."""
# syncs per step: 108
# first blamed line: scores = policy(torch.from_numpy(state).float().unsqueeze(0).to(device))

import sys

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

device = torch.device(sys.argv[1])
torch.manual_seed(12)
env = gym.make("CartPole-v1")
policy = nn.Sequential(nn.Linear(4, 32), nn.Dropout(0.6), nn.ReLU(), nn.Linear(32, 2)).to(device)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
state, _ = env.reset(seed=12)
for episode in range(5):
    log_probs, rewards, done = [], [], False
    while not done:
        scores = policy(torch.from_numpy(state).float().unsqueeze(0).to(device))
        chances = Categorical(torch.softmax(scores, dim=1))
        action = chances.sample()
        log_probs.append(chances.log_prob(action))
        state, reward, terminated, truncated, _ = env.step(action.item())
        rewards.append(reward)
        done = terminated or truncated
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + 0.99 * total
        returns.insert(0, total)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + np.finfo(np.float32).eps.item())
    optimizer.zero_grad()
    loss = torch.cat([-log_prob * value for log_prob, value in zip(log_probs, returns)]).sum()
    loss.backward()
    optimizer.step()
    print(episode, len(rewards), loss.item())
    state, _ = env.reset()
print(sum(weight.abs().sum().item() for weight in policy.parameters()))
