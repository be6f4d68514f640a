"""torchrl collects rollouts of an environment and learns with clipped PPO."""
# syncs per step: 469/5
# first blamed line: for data in collector:

import sys

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymEnv
from torchrl.modules import OneHotCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

device = torch.device(sys.argv[1])
# As torchrl does, but only when it is imported for the first time.
torch.distributions.Distribution.set_default_validate_args(False)
torch.manual_seed(44)
env = GymEnv("CartPole-v1", device="cpu")
env.set_seed(44)
body = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2)).to(device)
actor = ProbabilisticActor(
    TensorDictModule(body, in_keys=["observation"], out_keys=["logits"]),
    in_keys=["logits"],
    spec=env.action_spec,
    distribution_class=OneHotCategorical,
    return_log_prob=True,
)
critic = ValueOperator(nn.Linear(4, 1).to(device), in_keys=["observation"])
collector = Collector(
    env, actor, frames_per_batch=16, total_frames=48, policy_device=device, storing_device=device
)
advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
objective = ClipPPOLoss(actor, critic)
optimizer = torch.optim.Adam(objective.parameters(), lr=1e-2)
for data in collector:
    advantage(data)
    for _ in range(2):
        losses = objective(data.reshape(-1))
        loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item(), data["next", "reward"].sum().item())
collector.shutdown()
print(sum(weight.abs().sum().item() for weight in objective.parameters()))
