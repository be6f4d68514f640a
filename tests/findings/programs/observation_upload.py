"""An observation of the host uploaded at each step."""

import numpy as np
import torch
from torch import nn

device = torch.device("cuda")
policy = nn.Linear(4, 2).to(device)
hidden = torch.zeros(2, device=device)
with torch.no_grad():
    for step in range(6):
        observation = np.random.randn(4).astype(np.float32)
        state = torch.from_numpy(observation).to(device)  # expect SP206, no SP401, no SP202
        hidden = hidden + policy(state)  # no SP501
