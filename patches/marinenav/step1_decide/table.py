"""What step 1 puts in place of the original pipeline's code."""

from __future__ import annotations

from patches.marinenav import agents
from patches.marinenav.step1_decide import trainer_decisions
from patches.marinenav.step1_decide.decisions import act_batch
from patches.replacement import Replacement

_TRAINER = "legacy_marinenav.policy.trainer:Trainer"

REPLACEMENTS = (
    *agents.ROWS,
    Replacement("legacy_marinenav.policy.agent:Agent", "act_batch", act_batch, is_new=True),
    Replacement(_TRAINER, "_step_training", trainer_decisions.step_training),
    Replacement(_TRAINER, "_step_evaluation", trainer_decisions.step_evaluation),
)
