"""Drop-in optimised modules for slow training code, one switch per step of a five-step plan.

    import patches

    with patches.applied("1-3", mode="fast"):
        ...  # build environments, agent and trainer here, and train

`PLAN` lists the steps for ``legacy_marinenav``. Every step keeps the random draws, the rewards and the update rules of the legacy
code; with ``mode="exact"`` whole training runs are equal to the last bit.
"""

from __future__ import annotations

from patches.errors import PatchError
from patches.marinenav.plan import PLAN
from patches.plan import PatchStep, Plan
from patches.settings import Settings
from patches.toggle import Applied, Scope, applied, apply, current_settings

__all__ = [
    "PLAN",
    "Applied",
    "PatchError",
    "PatchStep",
    "Plan",
    "Scope",
    "Settings",
    "applied",
    "apply",
    "current_settings",
]
