"""User association: every base station is an agent with a Q-network of its own and picks one user per step.

The loop is the "before" of a comparison and is never optimised; ``patches.uara`` replaces parts of it.
"""

from __future__ import annotations

from syncprobe.workloads.uara.config import Options, ScenarioConfig
from syncprobe.workloads.uara.training import Trainer, seeded_trainer

__all__ = ["Options", "ScenarioConfig", "Trainer", "seeded_trainer"]
