"""A workload as a target, marked from outside: workloads know nothing of recordings."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from syncprobe.measuring.line_times import LineWatch, timed_call
from syncprobe.profiles.model import Digest
from syncprobe.recording import marks
from syncprobe.targets import legacy_code
from syncprobe.targets.base import OptionError, Outcome, existing
from syncprobe.targets.marinenav import end_last_step, mark
from syncprobe.targets.options import described_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Self

    from syncprobe.events import LineTime
    from syncprobe.measuring.line_times import Functions
    from syncprobe.profiles.model import Run
    from syncprobe.targets.options import TargetOptions


class Done(NamedTuple):
    """A step, for digests."""

    episode: int
    action: Any
    rewards: Any
    """Arrays, whose bytes count."""
    total: float
    """What the step adds to the reward of the episode."""


class WorkloadTarget(ABC):
    """A trainer whose ``run`` hands out step by step what was done."""

    name: str
    regions: Mapping[str, str]
    """Methods of the trainer, and what their work is charged to."""
    is_timed_by_default = True
    step_on = None

    def __init__(self, options: TargetOptions) -> None:
        self.options = self.completed(options)
        self.steps = int(self.options.steps or 0)
        self.warmup = int(self.options.warmup or 0)
        self.root = Path(__file__).resolve().parents[3]
        self.own = existing(options.own) or self.root

    @abstractmethod
    def completed(self, options: TargetOptions) -> TargetOptions:
        """The options with all defaults filled in."""

    @abstractmethod
    def build_trainer(self, device: str) -> Any:
        """A trainer of the given size."""

    @abstractmethod
    def done(self, record: Any) -> Done:
        """What a step comes to."""

    def look_back(  # noqa: B027  # most have nothing to note
        self, trainer: Any, records: list[Any]
    ) -> None:
        """Note what a run came to, for its description."""

    @property
    def sampled(self) -> Self:
        """All of it."""
        return self

    def describe(self, run: Run) -> Run:
        """Add the options of the run."""
        chosen = {name: getattr(self.options, name) for name in described_names(self.name)}
        return replace(run, pipeline=self.name, **chosen)

    def execute(self, device: str) -> Outcome:
        """Build everything anew from the seed, train, and digest what was done."""
        with ExitStack() as stack:
            stack.enter_context(legacy_code.undisturbed())
            stack.enter_context(
                legacy_code.patched(self.name, self.options.patches, self.options.mode)
            )
            trainer = self.build(device)
            records = list(_marked_steps(trainer, self.warmup + self.steps))
            self.look_back(trainer, records)
            return Outcome(digest=_digest(map(self.done, records)))

    def time_lines(self, functions: Functions, device: str) -> tuple[LineTime, ...]:
        """Run one pass with the lines of some functions timed."""
        watch = LineWatch(self.warmup, self.steps)
        return timed_call(lambda: self.execute(device), watch, functions, self.root)

    def build(self, device: str) -> Any:
        """The trainer, with its parts marked."""
        trainer = self.build_trainer(device)
        for method, region in self.regions.items():
            mark(trainer, method, region)
        return trainer


def _marked_steps(trainer: Any, count: int) -> Iterator[Any]:
    """What was done, step by step; a step begins when the one before has been handed out."""
    steps = trainer.run()
    with marks.region("loop"):
        for number in range(count):
            marks.step()
            record = next(steps, None)
            if record is None:
                raise OptionError(
                    f"All episodes were over after {number} steps. "
                    "Ask for fewer --steps, or for more and longer episodes."
                )
            yield record
        end_last_step()


def _digest(done: Iterator[Done]) -> Digest:
    actions, rewards = hashlib.sha256(), hashlib.sha256()
    episodes: dict[int, float] = {}
    for each in done:
        actions.update(each.action.tobytes())
        rewards.update(each.rewards.tobytes())
        episodes[each.episode] = episodes.get(each.episode, 0.0) + each.total
    return Digest(
        actions=actions.hexdigest(),
        rewards=rewards.hexdigest(),
        episode_rewards=tuple(episodes.values()),
    )
