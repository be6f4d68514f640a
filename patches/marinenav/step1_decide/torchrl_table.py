"""What step 1 puts in place of the TorchRL pipeline's code."""

from __future__ import annotations

from patches.marinenav.step1_decide.torchrl_decisions import forward
from patches.replacement import Replacement

REPLACEMENTS = (
    Replacement("legacy_marinenav.torchrl_gpu.policy_wrapper:PolicyWrapper", "forward", forward),
)
