"""What step 3 puts in place of the TorchRL pipeline's code."""

from __future__ import annotations

from patches.marinenav import torchrl_environment

REPLACEMENTS = torchrl_environment.ROWS
