"""The training runs that variants are compared on: short, but with everything that can go wrong in them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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
MOST_ROBOTS: Final = 6
"""On a map of that size."""
EPISODES: Final = 5
"""At least so many in a run that says how many robots there are."""


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
    robots: int | None = None
    """On the map all along; None: more and fewer of them in turns."""
    stages: tuple[Stage, ...] = ()
    """Empty: with and without cores, and as many robots as `robots` says."""
    evaluation: tuple[Stage, ...] = (
        Stage(robots=3, cores=2, obstacles=2),
        Stage(robots=4, cores=0, obstacles=2),
    )
    """One evaluation episode each."""
    episode_length: int = 40
    """Where episodes are cut off, so that a short run sees several."""
    history: int = HISTORY
    buffer_size: int = HISTORY + HEADROOM
    world: Mapping[str, Any] = field(default_factory=dict)
    """What is to be other than on the small map, which is larger for more robots."""
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
        if self.robots is not None:
            require_positive("robots", self.robots)

    def with_robots(self, robots: int) -> TrainingRun:
        """The same run with so many robots; a short one has shorter episodes, and still several."""
        longest = max(self.steps // EPISODES, 2)
        return replace(self, robots=robots, episode_length=min(self.episode_length, longest))

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
            world={**SMALL_MAP, **self._sides(), **self.world},
        )

    def _sides(self) -> dict[str, float]:
        """As much room for each of many robots as for few."""
        share = (self.robots or 0) / MOST_ROBOTS
        if share <= 1:
            return {}
        return {side: SMALL_MAP[side] * share**0.5 for side in ("width", "height")}

    def _schedule(self) -> Schedule:
        first, fewer, most = (self.robots or count for count in (5, 3, MOST_ROBOTS))
        stages = self.stages or (
            Stage(robots=first),
            Stage(timestep=3 * self.steps // 10, robots=fewer, cores=0, obstacles=2, distance=3.0),
            Stage(timestep=6 * self.steps // 10, robots=most),
        )
        return {"timesteps": [stage.timestep for stage in stages], **_columns(stages)}


def _columns(stages: tuple[Stage, ...]) -> Schedule:
    return {
        "num_robots": [stage.robots for stage in stages],
        "num_cores": [stage.cores for stage in stages],
        "num_obstacles": [stage.obstacles for stage in stages],
        "min_start_goal_dis": [stage.distance for stage in stages],
    }
