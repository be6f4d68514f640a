"""Curiosity: rewards for what a predictor of a random network gets wrong, normalised."""
# syncs per step: 102/15
# first blamed line: mask = (torch.rand(len(wrong), device=device) < 0.25).type(torch.FloatTensor).to(device)

import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

device = torch.device(sys.argv[1])
torch.manual_seed(11)
rng = np.random.default_rng(11)


class RunningMean:
    def __init__(self, size):
        self.mean, self.var, self.count = np.zeros(size), np.ones(size), 1e-4

    def update(self, batch):
        mean, var, count = batch.mean(0), batch.var(0), len(batch)
        delta, total = mean - self.mean, self.count + count
        squares = self.var * self.count + var * count + delta**2 * self.count * count / total
        self.mean, self.var, self.count = self.mean + delta * count / total, squares / total, total


fixed = nn.Sequential(nn.Linear(6, 32), nn.LeakyReLU(), nn.Linear(32, 8)).to(device)
predictor = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 8)).to(device)
for weight in fixed.parameters():
    weight.requires_grad = False
optimizer = torch.optim.Adam(predictor.parameters(), lr=1e-3)
seen, reward_scale = RunningMean(6), RunningMean(())
for update in range(8):
    observations = rng.normal(update, 2.0, (64, 6))
    seen.update(observations)
    mean = torch.from_numpy(seen.mean).to(device)
    deviation = torch.sqrt(torch.from_numpy(seen.var).to(device))
    batch = ((torch.from_numpy(observations).to(device) - mean) / deviation).clip(-5, 5).float()
    with torch.no_grad():
        curiosity = (fixed(batch) - predictor(batch)).pow(2).sum(1) / 2
    reward_scale.update(curiosity.cpu().numpy())
    rewards = curiosity / np.sqrt(reward_scale.var)
    for rows in torch.randperm(64).split(32):
        rows = rows.to(device)
        wrong = F.mse_loss(predictor(batch[rows]), fixed(batch[rows]), reduction="none").mean(-1)
        mask = (torch.rand(len(wrong), device=device) < 0.25).type(torch.FloatTensor).to(device)
        one = torch.tensor([1], device=device, dtype=torch.float32)
        loss = (wrong * mask).sum() / torch.max(mask.sum(), one)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(update, loss.item(), rewards.mean().item())
print(sum(weight.abs().sum().item() for weight in predictor.parameters()))
