"""Drop-in optimised modules for ``legacy_marinenav``, one switch per step of a five-step plan.

    import patches

    with patches.applied("1-3", mode="fast"):
        ...  # build environments, agent and trainer here, and train

`PLAN` lists the steps. Every step keeps the random draws, the rewards and the update rules of the legacy
code; with ``mode="exact"`` whole training runs are equal to the last bit.
"""

from __future__ import annotations

from patches.errors import PatchError
from patches.plan import PLAN, PatchStep, Plan
from patches.settings import Settings
from patches.toggle import Applied, applied, apply, current_settings

__all__ = [
    "PLAN",
    "Applied",
    "PatchError",
    "PatchStep",
    "Plan",
    "Settings",
    "applied",
    "apply",
    "current_settings",
]
