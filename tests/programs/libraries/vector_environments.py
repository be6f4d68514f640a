"""Eight environments at a time; actions and statistics stay on the device as long as they can."""
# syncs per step: 92/29
# first blamed line: logits = policy(torch.as_tensor(state, dtype=torch.float32, device=device))

import sys

import gymnasium as gym
import numpy as np
import torch
from torch import nn

device = torch.device(sys.argv[1])
torch.manual_seed(45)
envs = gym.make_vec("CartPole-v1", num_envs=8, vectorization_mode="vector_entry_point")
policy = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
state, _ = envs.reset(seed=45)
total = torch.zeros(8, device=device)
for step in range(30):
    with torch.no_grad():
        logits = policy(torch.as_tensor(state, dtype=torch.float32, device=device))
        action = torch.multinomial(logits.softmax(-1), 1).squeeze(1)
    state, reward, terminated, truncated, _ = envs.step(action.cpu().numpy())
    total += torch.as_tensor(reward, dtype=torch.float32, device=device)
    ended = np.logical_or(terminated, truncated)
    if ended.any():
        total[torch.as_tensor(ended, device=device)] = 0.0
print(total.tolist(), float(state.sum()))
