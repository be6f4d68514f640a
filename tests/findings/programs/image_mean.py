"""Channel means written as literals and uploaded with each image."""

import torch

device = torch.device("cuda")
image = torch.rand(3, 8, 8, device=device)
for batch in range(5):
    mean = torch.tensor([0.485, 0.456, 0.406]).to(device)  # expect SP402, no SP401
    image = image - 0.1 * mean.view(3, 1, 1)
