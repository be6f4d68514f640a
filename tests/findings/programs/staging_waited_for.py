"""A pinned buffer whose copy is waited for."""

import numpy as np
import torch

device = torch.device("cuda")
frames = np.random.default_rng(0).random((8, 4), dtype=np.float32)
staging = torch.empty(4, pin_memory=True)

for frame in frames:
    staging.copy_(torch.from_numpy(frame))
    image = staging.to(device)  # expect SP208, no SP206
    image.mul_(2.0)
