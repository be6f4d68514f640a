"""What step 2 puts in place of the TorchRL pipeline's code."""

from __future__ import annotations

from patches.marinenav import torchrl_environment
from patches.marinenav.step2_read import torchrl_steps
from patches.replacement import Replacement

_TRAINER = "legacy_marinenav.torchrl_gpu.torchrl_trainer:TorchRLTrainer"

REPLACEMENTS = (
    *torchrl_environment.ROWS,
    Replacement(_TRAINER, "_step_training", torchrl_steps.step_training),
    Replacement(_TRAINER, "_step_evaluation", torchrl_steps.step_evaluation),
)
