"""A logger that is given a device tensor."""

import logging

import torch

logger = logging.getLogger("train")
logger.setLevel(logging.INFO)
logger.addHandler(logging.NullHandler())
logger.propagate = False
device = torch.device("cuda")
weights = torch.zeros(4, device=device)
messages = []
for step in range(5):
    weights = weights + torch.randn(4, device=device)
    messages.append("weights " + str(weights))  # expect SP105
    logger.info("shape %s", weights.shape)  # no SP105
