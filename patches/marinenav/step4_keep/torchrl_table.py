"""What step 4 puts in place of the TorchRL pipeline's code."""

from __future__ import annotations

from patches.marinenav.step4_keep.torchrl_replay import init_trainer
from patches.replacement import Replacement

_TRAINER = "legacy_marinenav.torchrl_gpu.torchrl_trainer:TorchRLTrainer"

REPLACEMENTS = (Replacement(_TRAINER, "__init__", init_trainer),)
