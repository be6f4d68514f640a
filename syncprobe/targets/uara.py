"""User association as a target, marked from outside: the workload knows nothing of recordings."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from syncprobe.measuring.line_times import LineWatch, timed_call
from syncprobe.profiles.model import Digest
from syncprobe.recording import marks
from syncprobe.targets import legacy_code
from syncprobe.targets.base import Outcome, existing
from syncprobe.targets.marinenav import end_last_step, mark
from syncprobe.targets.options import described_names, filled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from syncprobe.events import LineTime
    from syncprobe.measuring.line_times import Functions
    from syncprobe.profiles.model import Run
    from syncprobe.targets.options import TargetOptions

REGIONS: Final = {"select": "act", "associate": "env", "learn": "learn"}


class UaraTarget:
    """Stations that pick users, each with a network of its own."""

    name = "uara"
    pipeline = "uara"
    is_timed_by_default = True
    step_on = None

    def __init__(self, options: TargetOptions) -> None:
        self.options = filled(options, self.name)
        self.steps = int(self.options.steps or 0)
        self.warmup = int(self.options.warmup or 0)
        self.root = Path(__file__).resolve().parents[2]
        self.own = existing(options.own) or self.root

    def describe(self, run: Run) -> Run:
        """Add the options of the run."""
        chosen = {name: getattr(self.options, name) for name in described_names(self.name)}
        return replace(run, pipeline=self.pipeline, **chosen)

    def execute(self, device: str) -> Outcome:
        """Build everything anew from the seed, train, and digest what was done."""
        with ExitStack() as stack:
            stack.enter_context(legacy_code.undisturbed())
            stack.enter_context(
                legacy_code.patched(self.pipeline, self.options.patches, self.options.mode)
            )
            trainer = self.build(device)
            done = list(_marked_steps(trainer, self.warmup + self.steps))
        return Outcome(digest=_digest(done))

    def time_lines(self, functions: Functions, device: str) -> tuple[LineTime, ...]:
        """Run one pass with the lines of some functions timed."""
        watch = LineWatch(self.warmup, self.steps)
        return timed_call(lambda: self.execute(device), watch, functions, self.root)

    def build(self, device: str) -> Any:
        """The trainer, with its parts marked."""
        trainer = build_trainer(self.options, device)
        for method, region in REGIONS.items():
            mark(trainer, method, region)
        return trainer


def build_trainer(options: TargetOptions, device: str) -> Any:
    """A trainer of the given size."""
    from syncprobe.workloads.uara import Options, ScenarioConfig, seeded_trainer  # it imports torch
    from syncprobe.workloads.uara.config import tuned

    assert options.users is not None, "the options are complete"
    assert options.stations is not None, "the options are complete"
    config = ScenarioConfig(nUsers=options.users, nSBS=options.stations - 1)
    learning = tuned(Options(nagents=options.stations), options.tuning or "none")
    return seeded_trainer(config, learning, options.seed or 0, device)


def _marked_steps(trainer: Any, count: int) -> Iterator[Any]:
    """What was picked and earned, step by step; a step begins when the one before has been handed out."""
    steps = trainer.run()
    with marks.region("loop"):
        for _ in range(count):
            marks.step()
            record = next(steps)
            yield record.episode, record.outcome.users, record.outcome.rates
        end_last_step()


def _digest(done: Iterable[tuple[int, list[int], list[float]]]) -> Digest:
    import numpy as np  # the built-in targets need it, importing syncprobe does not

    actions, rewards = hashlib.sha256(), hashlib.sha256()
    episodes: dict[int, float] = {}
    for episode, users, rates in done:
        actions.update(np.array(users, dtype=np.int64).tobytes())
        rewards.update(np.array(rates).astype(np.float32).tobytes())
        episodes[episode] = episodes.get(episode, 0.0) + sum(rates)
    return Digest(
        actions=actions.hexdigest(),
        rewards=rewards.hexdigest(),
        episode_rewards=tuple(episodes.values()),
    )
