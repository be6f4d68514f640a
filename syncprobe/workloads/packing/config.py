"""What a run is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from syncprobe.errors import SyncprobeError

PRESETS: Final[dict[str, dict[str, Any]]] = {
    "small": {"network": "tiny", "batch_size": 8, "replay_size": 512, "pool_size": 64},
    "paper": {"network": "unet", "batch_size": 128, "replay_size": 30000, "pool_size": 5000},
}
"""Sizes of what learns: for a CPU, and as published."""
PHASES: Final = ("auto", "worker", "joint")


class PackingError(SyncprobeError):
    """A configuration that cannot be run, or an object that was put where it cannot be."""


@dataclass(frozen=True, kw_only=True)
class PackingOptions:
    """Objects, box and learning."""

    num_objects: int = 20
    resolution: int = 200
    grid_step: int = 4
    max_steps: int = 10
    """Of an episode."""
    episodes: int = 1
    orientation_step: float = math.pi / 2
    phase: str = "auto"
    epsilon: float | None = None
    """Share of choices left to chance; None lets it fall from episode to episode."""
    network: str = "tiny"
    batch_size: int = 8
    replay_size: int = 512
    pool_size: int = 64
    accumulation: int = 2
    updates: int = 8
    """Of each network after an episode."""
    gamma: float = 0.95
    pretraining: int = 100
    """Episodes in which only the worker learns, if there are so many."""
    manager_every: int = 4
    """Joint episodes from one training of the manager to the next."""
    follow_every: int = 5
    """Episodes from one copy to the target networks to the next."""
    manager_candidates: int = 20
    side: float = 0.256
    """Of the box, a cube, in metres."""

    def __post_init__(self) -> None:
        quarters = self.orientation_step / (math.pi / 2)
        if quarters < 0.5 or abs(quarters - round(quarters)) > 1e-6:
            raise PackingError(
                f"Objects are turned by multiples of pi/2, not by {self.orientation_step:g}; "
                "use --orientation-step pi/2 or pi."
            )
        if self.phase not in PHASES:
            raise PackingError(f"There is no phase {self.phase!r}; use {', '.join(PHASES)}.")
        if self.epsilon is not None and not 0 <= self.epsilon <= 1:
            raise PackingError(f"--epsilon is a share from 0 to 1, not {self.epsilon:g}.")
        if self.batch_size % self.accumulation:
            raise PackingError(
                f"--batch-size must be a multiple of {self.accumulation}: batches are learnt in parts."
            )
        if self.resolution < 8 or self.grid_step < 1:
            raise PackingError("--resolution must be at least 8, and --grid-step at least 1.")

    @property
    def cell(self) -> float:
        """Side of a cell of the height map."""
        return self.side / self.resolution

    @property
    def micro_batch(self) -> int:
        """Transitions in one part of a batch."""
        return self.batch_size // self.accumulation

    def is_joint(self, episode: int) -> bool:
        """Whether the manager picks objects, too."""
        if self.phase == "auto":
            return episode >= min(self.pretraining, self.episodes)
        return self.phase == "joint"

    def chance(self, episode: int) -> float:
        """Share of choices left to chance."""
        if self.epsilon is not None:
            return self.epsilon
        return 0.1 + 0.8 * math.exp(-episode / 60)
