"""Gradients per sample by vmap and grad, an ensemble in one call, a Jacobian, a Hessian product."""
# syncs per step: 1
# first blamed line: print(step, norms.max().item())

import sys

import torch
from torch import nn
from torch.func import functional_call, grad, jacrev, jvp, stack_module_state, vmap

import syncprobe

device = sys.argv[1]
torch.manual_seed(32)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 3)).to(device)
weights = {name: weight.detach() for name, weight in model.named_parameters()}
x, y = torch.randn(10, 6, device=device), torch.randint(3, (10,), device=device)


def loss_of(weights, sample, label):
    logits = functional_call(model, weights, (sample.unsqueeze(0),))
    return nn.functional.cross_entropy(logits, label.unsqueeze(0))


for step in range(4):
    with syncprobe.step():
        each = vmap(grad(loss_of), in_dims=(None, 0, 0))(weights, x, y)
        norms = torch.stack([part.flatten(1).norm(dim=1) for part in each.values()]).norm(dim=0)
        scale = (0.5 / norms).clamp(max=1.0)
        for name, part in each.items():
            mean = torch.einsum("b,b...->...", scale, part) / len(x)
            weights[name] = weights[name] - 0.5 * mean
        print(step, norms.max().item())
ensemble = [nn.Linear(6, 3).to(device) for _ in range(3)]
stacked, buffers = stack_module_state(ensemble)
said = vmap(lambda w, b, x: functional_call(ensemble[0], (w, b), (x,)), in_dims=(0, 0, None))(
    stacked, buffers, x
)
print(said.shape, said.sum().item())
print(jacrev(lambda x: model(x).tanh())(x[0]).sum().item())
value, slope = jvp(lambda x: model(x).square().sum(), (x,), (torch.ones_like(x),))
print(value.item(), slope.item())
