"""What step 4 puts in place of the code that both pipelines share."""

from __future__ import annotations

from patches.marinenav import agents, sampled_batches
from patches.marinenav.step4_keep.device_priority_replay import DeviceReplayMemory
from patches.marinenav.step4_keep.device_replay import DeviceReplayBuffer
from patches.replacement import Replacement

_MODULE = "legacy_marinenav.policy.agent"

REPLACEMENTS = (
    *agents.ROWS,
    *sampled_batches.ROWS,
    Replacement(_MODULE, "ReplayBuffer", DeviceReplayBuffer),
    Replacement(_MODULE, "ReplayMemory", DeviceReplayMemory),
)
