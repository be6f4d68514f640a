"""An image is what is optimised: Gram matrices, LBFGS with a closure, a clamp after each step."""
# syncs per step: 11
# first blamed line: loss = optimizer.step(closure)

import sys

import torch
from torch import nn

device = torch.device(sys.argv[1])
torch.manual_seed(29)
network = nn.Sequential(
    nn.Conv2d(3, 8, 3, 1, 1), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(8, 8, 3, 1, 1)
).to(device)
network.requires_grad_(False)


def gram(x):
    flat = x.view(x.shape[1], -1)
    return flat @ flat.t() / flat.numel()


content, style = (torch.rand(1, 3, 12, 12, device=device) for _ in range(2))
wanted, wanted_gram = network(content), gram(network(style))
image = content.clone().requires_grad_(True)
optimizer = torch.optim.LBFGS([image], lr=0.5, max_iter=3)
for step in range(4):

    def closure():
        optimizer.zero_grad()
        found = network(image)
        loss = nn.functional.mse_loss(found, wanted) + 1e3 * nn.functional.mse_loss(
            gram(found), wanted_gram
        )
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    with torch.no_grad():
        image.clamp_(0, 1)
    print(step, loss.item())
print(image.sum().item())
