"""What one training run did, as plain values that can be held against another run's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Arrays = Mapping[str, Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a policy chose for one robot."""

    timestep: int
    is_evaluation: bool
    place: int
    """How many choices of the same step or evaluation came before."""
    action: Any
    """As the trainer gets it: types matter to the environment's arithmetic."""

    @property
    def value(self) -> Array:
        """The action as numbers."""
        return as_numbers(self.action)


@dataclass(slots=True, kw_only=True)
class StepTrace:
    """One training step; filled in while it happens."""

    timestep: int
    generators: Mapping[str, int]
    """Fingerprints of the global generators' states when the step began."""
    actions: tuple[Array | None, ...] = ()
    """What the environment was told, None for robots that are out."""
    observations: tuple[Array | None, ...] = ()
    """Own state, then objects; None for robots that are out."""
    rewards: Array
    dones: tuple[bool, ...] = ()
    infos: tuple[str, ...] = ()
    poses: tuple[Array, ...] = ()
    """Position, heading, velocities and thrusts of each robot."""
    deactivated: tuple[bool, ...] = ()
    """After the trainer has taken out who collided or arrived."""
    episode: int = 0
    episode_rewards: Array
    """What each robot has collected in this episode, as the trainer adds it up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateTrace:
    """One training update."""

    timestep: int
    losses: tuple[Array, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One training run."""

    steps: tuple[StepTrace, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    """What the policy chose, before anything was forced on it."""
    updates: tuple[UpdateTrace, ...] = ()
    soft_updates: tuple[int, ...] = ()
    """Timesteps at which the target followed."""
    evaluations: tuple[int, ...] = ()
    """Timesteps at which the policy was evaluated."""
    parameters: Arrays = field(default_factory=dict)
    """Of the local and the target policy, buffers included."""
    optimizers: Arrays = field(default_factory=dict)
    replay: Arrays = field(default_factory=dict)
    """Oldest transition first."""
    generators: Arrays = field(default_factory=dict)
    """One more draw from each generator at the end."""
    evaluation_results: Arrays = field(default_factory=dict)
    saved: Arrays = field(default_factory=dict)
    """Model files by name, loaded back by the legacy classes."""
    aftermath: Arrays = field(default_factory=dict)
    """What was handed out, looked at once everything was over; empty unless the run asks for it."""
    printed: str = ""
    failure: str | None = None
    """Why the run stopped early."""

    def with_files(self, *, saved: Arrays, evaluation_results: Arrays) -> Trace:
        """The same run, with what it left in files."""
        return replace(self, saved=saved, evaluation_results=evaluation_results)

    def episode_rewards(self) -> dict[tuple[int, int], float]:
        """What each robot collected, by episode and robot."""
        last = {step.episode: step for step in self.steps}
        return {
            (episode, robot): float(reward)
            for episode, step in last.items()
            for robot, reward in enumerate(step.episode_rewards)
        }


def as_numbers(action: Any) -> Array:
    """An action as numbers: two doubles, or one integer."""
    if isinstance(action, (list, tuple)) or np.ndim(action):
        return np.array(action, dtype=np.float64)
    return np.array(int(action), dtype=np.int64)
