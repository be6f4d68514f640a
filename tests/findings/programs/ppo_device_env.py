"""PPO with an environment on the device and nothing read before the end."""

import torch
from torch import nn
from torch.distributions import Categorical

device = torch.device("cuda")
actor = nn.Linear(4, 2).to(device)
optimizer = torch.optim.Adam(actor.parameters(), fused=True)
obs = torch.randn(16, 4, device=device)
losses = []
for update in range(6):
    dist = Categorical(logits=actor(obs), validate_args=False)  # no SP301
    draws = torch.empty_like(dist.probs).exponential_()
    action = (dist.probs.detach() / draws).argmax(-1)  # no SP307
    reward = (obs[:, 0] > 0).float()  # no SP302
    loss = -(dist.log_prob(action) * reward).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()  # no SP503
    losses.append(loss.detach())  # no SP103
    obs = torch.where(reward.bool().unsqueeze(1), obs + 0.1, -obs)  # no SP303
print(torch.stack(losses).tolist())  # no SP104, no SP107
