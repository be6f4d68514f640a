"""An upload that says it does not block, from memory that is not pinned."""

import numpy as np
import torch

device = torch.device("cuda")
for step in range(5):
    frame = np.random.rand(3, 8, 8).astype(np.float32)
    image = torch.from_numpy(frame).to(device, non_blocking=True)  # expect SP202, no SP206
    image = image / 255
