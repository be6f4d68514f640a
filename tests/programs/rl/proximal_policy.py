"""PPO in one file: vectorised environments, generalised advantages, clipped updates of minibatches."""
# syncs per step: 25
# first blamed line: x, action, before, advantage, wanted = (part[some] for part in flat)

import random
import sys

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

device = torch.device(sys.argv[1])
random.seed(1)
np.random.seed(1)
torch.manual_seed(1)
ENVS, LENGTH, GAMMA, SMOOTHING = 2, 16, 0.99, 0.95


def layer(inputs, outputs, scale=2**0.5):
    made = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(made.weight, scale)
    nn.init.constant_(made.bias, 0.0)
    return made


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(layer(4, 32), nn.Tanh(), layer(32, 1, 1.0))
        self.actor = nn.Sequential(layer(4, 32), nn.Tanh(), layer(32, 2, 0.01))

    def decide(self, x, action=None):
        chances = Categorical(logits=self.actor(x))
        action = chances.sample() if action is None else action
        return action, chances.log_prob(action), chances.entropy(), self.critic(x).squeeze(-1)


envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1")] * ENVS)
agent = Agent().to(device)
optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-3, eps=1e-5)
seen = torch.zeros(LENGTH, ENVS, 4, device=device)
taken, logs, rewards, ends, values = (torch.zeros(LENGTH, ENVS, device=device) for _ in range(5))
observation = torch.Tensor(envs.reset(seed=1)[0]).to(device)
done = torch.zeros(ENVS, device=device)
for update in range(3):
    optimizer.param_groups[0]["lr"] = (1 - update / 3) * 2.5e-3
    for step in range(LENGTH):
        seen[step], ends[step] = observation, done
        with torch.no_grad():
            actions, log_prob, _, values[step] = agent.decide(observation)
        taken[step], logs[step] = actions, log_prob
        following, reward, terminated, truncated, _ = envs.step(actions.cpu().numpy())
        rewards[step] = torch.tensor(reward).to(device).view(-1)
        observation = torch.Tensor(following).to(device)
        done = torch.Tensor(np.logical_or(terminated, truncated)).to(device)
    with torch.no_grad():
        ahead = agent.critic(observation).squeeze(-1)
        advantages, last, open_end = torch.zeros_like(rewards), 0.0, 1.0 - done
        for step in reversed(range(LENGTH)):
            surprise = rewards[step] + GAMMA * ahead * open_end - values[step]
            advantages[step] = last = surprise + GAMMA * SMOOTHING * open_end * last
            ahead, open_end = values[step], 1.0 - ends[step]
        returns = advantages + values
    flat = [part.reshape(-1, *part.shape[2:]) for part in (seen, taken, logs, advantages, returns)]
    order = np.arange(LENGTH * ENVS)
    for epoch in range(2):
        np.random.shuffle(order)
        for start in range(0, len(order), 16):
            some = order[start : start + 16]
            x, action, before, advantage, wanted = (part[some] for part in flat)
            _, now, entropy, value = agent.decide(x, action.long())
            ratio = (now - before).exp()
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            clipped = torch.clamp(ratio, 0.8, 1.2)
            policy_loss = torch.max(-advantage * ratio, -advantage * clipped).mean()
            value_loss = 0.5 * ((value - wanted) ** 2).mean()
            loss = policy_loss + 0.5 * value_loss - 0.01 * entropy.mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    print(update, policy_loss.item(), value_loss.item(), returns.mean().item())
print(sum(weight.abs().sum().item() for weight in agent.parameters()))
