"""The training runs that variants are compared on: short, but with everything that can go wrong in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from syncprobe.targets.base import require_positive
from syncprobe.targets.legacy_code import Recipe, Schedule

if TYPE_CHECKING:
    from collections.abc import Mapping

HISTORY: Final = 2000
"""Transitions that the replay starts with: enough for Rainbow to draw valid batches from the first step on."""
HEADROOM: Final = 300
"""More transitions until the ring is full: less than a run stores, so that it wraps around."""
SMALL_MAP: Final = {"width": 30, "height": 30, "clear_r": 4.0}
"""Robots meet obstacles, each other and their goals within a few steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What is on the map, from some timestep on."""

    timestep: int = 0
    robots: int = 5
    cores: int = 4
    obstacles: int = 4
    distance: float = 8.0
    """From start to goal, at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRun:
    """A training run, described completely."""

    agent: str
    pipeline: str = "original"
    seed: int = 0
    steps: int = 200
    stages: tuple[Stage, ...] = ()
    """Empty: more and fewer robots in turns, with and without cores."""
    evaluation: tuple[Stage, ...] = (
        Stage(robots=3, cores=2, obstacles=2),
        Stage(robots=4, cores=0, obstacles=2),
    )
    """One evaluation episode each."""
    episode_length: int = 40
    """Where episodes are cut off, so that a short run sees several."""
    history: int = HISTORY
    buffer_size: int = HISTORY + HEADROOM
    world: dict[str, Any] = field(default_factory=lambda: dict(SMALL_MAP))
    learning_starts: int = 4
    target_update_interval: int = 16
    update_every: int = 4
    agent_options: Mapping[str, Any] = field(default_factory=dict)
    """Of the agent, besides the size of its replay."""
    device: str = "cpu"
    """``sim`` trains on the simulated device, where uploads and reads take their own ways."""
    is_looked_at_later: bool = False
    """Whether what the agent hands out is kept, and looked at when all is over."""

    def __post_init__(self) -> None:
        require_positive("steps", self.steps, minimum=2)
        require_positive("seed", self.seed, minimum=0)

    @property
    def evaluate_every(self) -> int:
        """Timesteps between evaluations, besides the one when learning starts."""
        return max(self.steps // 2, 1)

    @property
    def torch_device(self) -> str:
        """What torch calls the device."""
        return "cuda" if self.device == "sim" else self.device

    @property
    def recipe(self) -> Recipe:
        """What to build."""
        return Recipe(
            agent=self.agent,
            seed=self.seed,
            schedule=self._schedule(),
            eval_schedule={"num_episodes": [1] * len(self.evaluation), **_columns(self.evaluation)},
            agent_options={"BUFFER_SIZE": self.buffer_size, **self.agent_options},
            trainer_options={
                "UPDATE_EVERY": self.update_every,
                "learning_starts": self.learning_starts,
                "target_update_interval": self.target_update_interval,
            },
            world=self.world,
        )

    def _schedule(self) -> Schedule:
        stages = self.stages or (
            Stage(),
            Stage(timestep=3 * self.steps // 10, robots=3, cores=0, obstacles=2, distance=3.0),
            Stage(timestep=6 * self.steps // 10, robots=6),
        )
        return {"timesteps": [stage.timestep for stage in stages], **_columns(stages)}


def _columns(stages: tuple[Stage, ...]) -> Schedule:
    return {
        "num_robots": [stage.robots for stage in stages],
        "num_cores": [stage.cores for stage in stages],
        "num_obstacles": [stage.obstacles for stage in stages],
        "min_start_goal_dis": [stage.distance for stage in stages],
    }
