"""A replay buffer and a value network with the losses of torchrl."""
# syncs per step: 1
# first blamed line: print(step, loss.item())

import sys

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
from torchrl.modules import QValueActor
from torchrl.objectives import DQNLoss, SoftUpdate

device = torch.device(sys.argv[1])
# As torchrl does, but only when it is imported for the first time.
torch.distributions.Distribution.set_default_validate_args(False)
torch.manual_seed(43)
network = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
actor = QValueActor(network, in_keys=["observation"], action_space="categorical")
objective = DQNLoss(actor, action_space="categorical", delay_value=True)
objective.make_value_estimator(gamma=0.9)
update_target = SoftUpdate(objective, eps=0.9)
memory = TensorDictReplayBuffer(storage=LazyTensorStorage(64, device=device), batch_size=16)
count = 48
memory.extend(
    TensorDict(
        {
            "observation": torch.randn(count, 4),
            "action": torch.randint(2, (count,)),
            "next": {
                "observation": torch.randn(count, 4),
                "reward": torch.randn(count, 1),
                "done": torch.zeros(count, 1, dtype=torch.bool),
                "terminated": torch.zeros(count, 1, dtype=torch.bool),
            },
        },
        [count],
    )
)
optimizer = torch.optim.Adam(objective.parameters(), lr=1e-2)
for step in range(6):
    loss = objective(memory.sample())["loss"]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_target.step()
    print(step, loss.item())
print(sum(weight.abs().sum().item() for weight in network.parameters()))
