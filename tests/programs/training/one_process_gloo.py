"""DistributedDataParallel in a group of one process, over gloo."""
# syncs per step: 39/11
# first blamed line: model(inputs.to(device))

import os
import sys
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

device = sys.argv[1]
torch.manual_seed(33)
meeting = os.path.join(tempfile.mkdtemp(), "meeting")
dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=0, world_size=1)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
model = DistributedDataParallel(model, device_ids=[0] if device == "cuda" else None)
data = TensorDataset(torch.randn(48, 8), torch.randint(2, (48,)))
sampler = DistributedSampler(
    data, num_replicas=dist.get_world_size(), rank=dist.get_rank(), seed=33
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for inputs, targets in DataLoader(data, batch_size=8, sampler=sampler):
        loss = nn.functional.cross_entropy(model(inputs.to(device)), targets.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    total = loss.detach().clone()
    dist.all_reduce(total)
    print(epoch, total.item())
dist.barrier()
dist.destroy_process_group()
print(sum(weight.abs().sum().item() for weight in model.parameters()))
