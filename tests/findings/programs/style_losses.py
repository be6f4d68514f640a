"""Losses between the features of several layers: a loop of products, but no forward, and constants of images."""

import torch
from torch import nn

device = torch.device("cuda")
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Conv2d(4, 8, 3)).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, fused=True)
images = torch.rand(2, 3, 8, 8, device=device)


def normalized(batch):
    mean = batch.new_tensor([0.485, 0.456, 0.406]).view(-1, 1, 1)  # expect SP402, no SP401
    return batch - mean


def gram(features):
    flat = features.flatten(2)
    return flat.bmm(flat.transpose(1, 2))


first = net[0](images)
goals = [gram(first).detach(), gram(net[1](first)).detach()]
for _ in range(4):
    first = net[0](normalized(images))
    layers = [first, net[1](first)]
    loss = torch.zeros((), device=device)  # expect SP403
    for features, goal in zip(layers, goals, strict=True):  # expect SP502
        loss = loss + nn.functional.mse_loss(gram(features), goal)  # no SP501
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
