"""A training loop with accelerate: prepared, clipped and scheduled."""
# syncs per step: 19/9
# first blamed line: for inputs, labels in loader:

import sys

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from torch import nn

# The device is chosen once per process otherwise.
AcceleratorState._reset_state(True)
accelerator = Accelerator(cpu=sys.argv[1] == "cpu")
torch.manual_seed(53)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
data = torch.utils.data.TensorDataset(torch.randn(48, 8), torch.randint(3, (48,)))
loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
for epoch in range(2):
    for inputs, labels in loader:
        loss = nn.functional.cross_entropy(model(inputs), labels)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    print(epoch, accelerator.gather(loss.detach()).mean().item())
print(sum(weight.abs().sum().item() for weight in model.parameters()))
