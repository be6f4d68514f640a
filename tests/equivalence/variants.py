"""Stand-ins for patches: context managers that wrap legacy methods, harmlessly or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from syncprobe.equivalence import Stage, TrainingRun
from syncprobe.equivalence.verdict import Case

Wrapper = Callable[..., Any]


def small_run(agent: str = "DDPG", pipeline: str = "original", **changes: Any) -> TrainingRun:
    """A run of a second: three robots, several episodes, a few updates, one evaluation."""
    settings: dict[str, Any] = {
        "steps": 16,
        "stages": (
            Stage(robots=3, cores=1, obstacles=2),
            Stage(timestep=8, robots=2, cores=0, obstacles=1, distance=3.0),
        ),
        "evaluation": (Stage(robots=2, cores=0, obstacles=1),),
        "episode_length": 5,
        "history": 300,
        "buffer_size": 320,
        "target_update_interval": 8,
    }
    return TrainingRun(agent=agent, pipeline=pipeline, **{**settings, **changes})


def case_of(run: TrainingRun, mode: str, patches: tuple[int, ...] = (1, 2, 3, 4, 5)) -> Case:
    return Case(
        agent=run.agent,
        pipeline=run.pipeline,
        patches=patches,
        mode=mode,
        seed=run.seed,
        steps=run.steps,
    )


@contextmanager
def wrapped(owner: Any, name: str, around: Wrapper) -> Iterator[None]:
    """While open, ``around(original, self, ...)`` stands in for a method of a class or module."""
    original = getattr(owner, name)

    def stand_in(*args: Any, **kwargs: Any) -> Any:
        return around(original, *args, **kwargs)

    setattr(owner, name, stand_in)
    try:
        yield
    finally:
        setattr(owner, name, original)
