"""What step 3 puts in place of the code that both pipelines share."""

from __future__ import annotations

from patches.marinenav import agents, sampled_batches
from patches.marinenav.step3_reuse import staged_inputs
from patches.replacement import Replacement

_POLICY = "legacy_marinenav.policy"
_EMBEDDING = f"{_POLICY}.networks.encoders:CosineEmbedding"
_ENCODER = f"{_POLICY}.networks.encoders:ObservationEncoder"
_RAINBOW = f"{_POLICY}.updates.rainbow"

REPLACEMENTS = (
    *agents.ROWS,
    *sampled_batches.ROWS,
    Replacement(f"{_POLICY}.agent:Agent", "state_to_tensor", staged_inputs.state_to_tensor),
    Replacement(_EMBEDDING, "calc_cos", staged_inputs.calc_cos),
    Replacement(_ENCODER, "observation_features", staged_inputs.observation_features),
    Replacement(_RAINBOW, "project_distribution", staged_inputs.project_distribution),
)
