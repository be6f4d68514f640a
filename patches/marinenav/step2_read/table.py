"""What step 2 puts in place of the code that both pipelines share."""

from __future__ import annotations

from patches.blocks.lazy_losses import loss_of
from patches.marinenav import agents
from patches.marinenav.step2_read.insertion import collect
from patches.replacement import Replacement

_UPDATES = "legacy_marinenav.policy.updates"

REPLACEMENTS = (
    *agents.ROWS,
    Replacement("legacy_marinenav.policy.training_loop:TrainingLoop", "_collect", collect),
    # One to three reads per update, of values that the training loop throws away.
    Replacement(f"{_UPDATES}.actor_critic", "to_host", loss_of),
    Replacement(f"{_UPDATES}.rainbow", "to_host", loss_of),
    Replacement(f"{_UPDATES}.sac", "to_host", loss_of),
    Replacement(f"{_UPDATES}.value_based", "to_host", loss_of),
)
