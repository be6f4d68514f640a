"""What step 5 puts in place of legacy code."""

from __future__ import annotations

from patches.marinenav import agents
from patches.marinenav.step5_merge import compiled_environment, learning, updates
from patches.replacement import Replacement

_AGENT = "legacy_marinenav.policy.agent:Agent"
_ENVIRONMENT = "legacy_marinenav.marinenav_env.envs.marinenav_env:MarineNavEnv3"

UPDATE_ROWS = (
    Replacement(_AGENT, "train", updates.train),
    Replacement(_AGENT, "soft_update", updates.soft_update),
    Replacement(_AGENT, "compiled_networks", learning.compiled_networks, is_new=True),
)
ENVIRONMENT_ROWS = (
    Replacement(_ENVIRONMENT, "step", compiled_environment.step),
    Replacement(_ENVIRONMENT, "get_observations", compiled_environment.get_observations),
)
REPLACEMENTS = (*agents.ROWS, *UPDATE_ROWS, *ENVIRONMENT_ROWS)

# Reading the table comes before anything is measured.
compiled_environment.prepare()
