"""PPO with an LSTM whose state is reset where an episode ended."""
# syncs per step: 94/5
# first blamed line: return Categorical(logits=self.actor(hidden)), self.critic(hidden).flatten(), state

import sys

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

device = torch.device(sys.argv[1])
np.random.seed(14)
torch.manual_seed(14)
ENVS, LENGTH = 2, 8
envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1")] * ENVS)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.lstm = nn.Linear(4, 16), nn.LSTM(16, 16)
        for name, weight in self.lstm.named_parameters():
            (nn.init.zeros_ if "bias" in name else nn.init.orthogonal_)(weight)
        self.actor, self.critic = nn.Linear(16, 2), nn.Linear(16, 1)

    def forward(self, x, state, ended):
        x, kept = torch.tanh(self.first(x)).reshape(-1, ENVS, 16), []
        for now, end in zip(x, ended.reshape(-1, ENVS)):
            keep = (1.0 - end).view(1, -1, 1)
            y, state = self.lstm(now.unsqueeze(0), (keep * state[0], keep * state[1]))
            kept.append(y)
        hidden = torch.flatten(torch.cat(kept), 0, 1)
        return Categorical(logits=self.actor(hidden)), self.critic(hidden).flatten(), state


agent = Agent().to(device)
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
state = tuple(torch.zeros(1, ENVS, 16, device=device) for _ in range(2))
observation, ended = torch.Tensor(envs.reset(seed=14)[0]).to(device), torch.zeros(ENVS).to(device)
for update in range(3):
    first = tuple(part.clone() for part in state)
    seen, ends, actions, rewards = [], [], [], []
    for _ in range(LENGTH):
        with torch.no_grad():
            chances, _, state = agent(observation, state, ended)
            action = chances.sample()
        seen.append(observation)
        ends.append(ended)
        actions.append(action)
        following, reward, terminated, truncated, _ = envs.step(action.cpu().numpy())
        rewards.append(torch.tensor(reward, device=device, dtype=torch.float32))
        observation = torch.Tensor(following).to(device)
        ended = torch.Tensor(terminated | truncated).to(device)
    gains = torch.stack(rewards).flip(0).cumsum(0).flip(0).flatten()
    for _ in range(2):
        chances, values, _ = agent(torch.cat(seen), first, torch.cat(ends))
        advantage = gains - values
        loss = -(chances.log_prob(torch.cat(actions)) * advantage.detach()).mean()
        loss = loss + 0.5 * advantage.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
    print(update, loss.item(), norm.item())
print(sum(weight.abs().sum().item() for weight in agent.parameters()))
