"""DQN in one file: a replay memory of arrays, epsilon-greedy play, a target network."""
# syncs per step: 539/79
# first blamed line: best = target(torch.from_numpy(following[some]).to(device)).max(dim=1).values

import random
import sys

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

device = torch.device(sys.argv[1])
random.seed(2)
np.random.seed(2)
torch.manual_seed(2)


def network():
    return nn.Sequential(
        nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 32), nn.ReLU(), nn.Linear(32, 2)
    )


env = gym.wrappers.RecordEpisodeStatistics(gym.make("CartPole-v1"))
q_network, target = network().to(device), network().to(device)
target.load_state_dict(q_network.state_dict())
optimizer = torch.optim.Adam(q_network.parameters(), lr=2.5e-4)
states, following = np.zeros((200, 4), np.float32), np.zeros((200, 4), np.float32)
actions, rewards, ends = (
    np.zeros(200, np.int64),
    np.zeros(200, np.float32),
    np.zeros(200, np.float32),
)
state, _ = env.reset(seed=2)
for step in range(120):
    if random.random() < max(0.1, 1 - step / 60):
        action = random.randrange(2)
    else:
        values = q_network(torch.Tensor(state).to(device))
        action = torch.argmax(values).cpu().item()
    new, reward, terminated, truncated, info = env.step(action)
    states[step], actions[step], rewards[step], following[step] = state, action, reward, new
    ends[step] = terminated
    state = new
    if terminated or truncated:
        print(step, "return", info["episode"]["r"])
        state, _ = env.reset()
    if step < 40:
        continue
    some = np.random.randint(0, step, 32)
    with torch.no_grad():
        best = target(torch.from_numpy(following[some]).to(device)).max(dim=1).values
        gain = torch.from_numpy(rewards[some]).to(device)
        wanted = gain + 0.99 * best * (1 - torch.from_numpy(ends[some]).to(device))
    chosen = torch.from_numpy(actions[some]).to(device).unsqueeze(1)
    old = q_network(torch.from_numpy(states[some]).to(device)).gather(1, chosen).squeeze(1)
    loss = F.mse_loss(wanted, old)
    if step % 20 == 0:
        print(step, loss.item(), old.mean().item())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        for slow, fast in zip(target.parameters(), q_network.parameters()):
            slow.data.copy_(0.5 * fast.data + 0.5 * slow.data)
print(sum(weight.abs().sum().item() for weight in q_network.parameters()))
