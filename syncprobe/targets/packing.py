"""Hierarchical packing as a target, marked from outside: the workload knows nothing of recordings."""

from __future__ import annotations

import hashlib
import math
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from syncprobe.errors import UnknownNameError
from syncprobe.measuring.line_times import LineWatch, timed_call
from syncprobe.profiles.model import Digest
from syncprobe.recording import marks
from syncprobe.targets import legacy_code
from syncprobe.targets.base import OptionError, Outcome, existing, parse_number
from syncprobe.targets.marinenav import end_last_step, mark
from syncprobe.targets.options import described_names, filled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.events import LineTime
    from syncprobe.measuring.line_times import Functions
    from syncprobe.profiles.model import Run
    from syncprobe.targets.options import TargetOptions

REGIONS: Final = {
    "pick": "act",
    "decide": "act",
    "place": "env",
    "look_ahead": "act",
    "remember": "insert",
    "remember_pick": "insert",
    "learn": "learn",
}
RESOLUTIONS: Final = {"small": 48, "paper": 200}
"""What is run unless a resolution is given: steps take moments, or what they took as published."""


@dataclass(frozen=True, kw_only=True)
class Past:
    """What the last run came to, for notes."""

    transitions: int
    updates: int
    chance: float
    lines: tuple[str, ...]


class PackingTarget:
    """Objects that are put into a box by two networks."""

    name = "packing"
    pipeline = "packing"
    is_timed_by_default = True
    step_on = None

    def __init__(self, options: TargetOptions) -> None:
        self.options = completed(options)
        self.steps = int(self.options.steps or 0)
        self.warmup = int(self.options.warmup or 0)
        self.root = Path(__file__).resolve().parents[2]
        self.own = existing(options.own) or self.root
        self._past: Past | None = None

    def describe(self, run: Run) -> Run:
        """Add the options of the run, and what has to be known about it."""
        chosen = {name: getattr(self.options, name) for name in described_names(self.name)}
        notes = (*run.notes, *notes_on(self.options, self._past))
        return replace(run, pipeline=self.pipeline, notes=notes, **chosen)

    def execute(self, device: str) -> Outcome:
        """Build everything anew from the seed, train, and digest what was done."""
        with ExitStack() as stack:
            stack.enter_context(legacy_code.undisturbed())
            stack.enter_context(
                legacy_code.patched(self.pipeline, self.options.patches, self.options.mode)
            )
            trainer = self.build(device)
            done = list(_marked_steps(trainer, self.warmup + self.steps))
            self._past = _past(trainer, len(done), self.options.log_every)
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


def completed(options: TargetOptions) -> TargetOptions:
    """The options with all defaults filled in: as many episodes as the steps need, of the preset's size.

    Raises:
        OptionError: One has a value that it cannot have, or is for other targets.
    """
    from syncprobe.workloads.packing import PRESETS  # it imports torch

    if options.num_workers not in {None, 1}:
        raise OptionError(
            "--num-workers must be 1: on an accelerator one process does all the work."
        )
    # Nothing has to be waited for: episodes begin with an empty box, and learning ends them.
    warmup = 0 if options.warmup is None else options.warmup
    options = filled(replace(options, warmup=warmup), "packing")
    preset, objects = options.preset or "", int(options.num_objects or 0)
    if preset not in PRESETS:
        raise UnknownNameError("preset", preset, tuple(PRESETS))
    total = int(options.steps or 0) + warmup
    longest = options.max_steps or (
        math.ceil(total / options.episodes) if options.episodes else total
    )
    longest = min(longest, objects) if options.max_steps is None else longest
    return replace(
        options,
        resolution=options.resolution or RESOLUTIONS[preset],
        max_steps=longest,
        episodes=options.episodes or math.ceil(total / min(longest, objects)),
        batch_size=options.batch_size or int(PRESETS[preset]["batch_size"]),
    )


def build_trainer(options: TargetOptions, device: str) -> Any:
    """A trainer of the given size."""
    from syncprobe.workloads.packing import PRESETS, PackingOptions, seeded_trainer  # as above

    taken = ("num_objects", "resolution", "grid_step", "max_steps", "episodes", "phase", "epsilon")
    sizes = {
        **PRESETS[options.preset or ""],
        **{name: getattr(options, name) for name in (*taken, "batch_size")},
    }
    step = angle_of(options.orientation_step or "pi/2")
    return seeded_trainer(PackingOptions(orientation_step=step, **sizes), options.seed or 0, device)


def angle_of(text: str) -> float:
    """An angle as people write it: ``pi``, ``pi/2``, or a number."""
    numerator, _, denominator = text.lower().partition("/")
    top = math.pi if numerator == "pi" else parse_number(numerator)
    return top / (parse_number(denominator) if denominator else 1.0)


def notes_on(options: TargetOptions, past: Past | None) -> Iterator[str]:
    """What the reader of a profile has to know about the run."""
    from syncprobe.workloads.packing import PRESETS  # as above

    network = PRESETS[options.preset or ""]["network"]
    yield (
        f"Preset {options.preset}: {network} networks, batches of {options.batch_size}; "
        f"{options.episodes} episode(s) of at most {options.max_steps} steps."
    )
    if past is None:
        return
    if options.phase == "auto":
        yield (
            f"All episodes are worker-only, with {past.chance:.2g} of the choices left to chance: there are "
            "100 episodes of pre-training, or as many as the run has. --phase joint and --epsilon 0 show the rest."
        )
    if not past.updates:
        yield (
            f"Nothing was trained: {past.transitions} transitions do not reach a batch of "
            f"{options.batch_size}, or no episode came to its end."
        )
    yield from past.lines


def _past(trainer: Any, transitions: int, log_every: int | None) -> Past:
    log = trainer.log
    return Past(
        transitions=transitions,
        updates=sum(len(each) for record in log for each in record.losses),
        chance=trainer.options.chance(0),
        lines=tuple(record.line() for record in log[:: log_every or len(log) + 1] if log_every),
    )


def _marked_steps(trainer: Any, count: int) -> Iterator[Any]:
    """What was done, step by step; a step begins when the one before has been handed out."""
    steps = trainer.run()
    with marks.region("loop"):
        for number in range(count):
            marks.step()
            record = next(steps, None)
            if record is None:
                raise OptionError(
                    f"All episodes were over after {number} steps, because boxes were full or objects packed. "
                    "Ask for fewer --steps, or for more --episodes or --num-objects."
                )
            yield record
        end_last_step()


def _digest(done: list[Any]) -> Digest:
    import numpy as np  # the built-in targets need it, importing syncprobe does not

    actions, rewards = hashlib.sha256(), hashlib.sha256()
    episodes: dict[int, float] = {}
    for record in done:
        placement, reward = record.placement, float(record.reward)
        turned = placement.number, placement.orientation
        actions.update(np.array([*turned, *record.placed], dtype=np.float64).tobytes())
        rewards.update(np.array(reward).tobytes())
        episodes[record.episode] = episodes.get(record.episode, 0.0) + reward
    return Digest(
        actions=actions.hexdigest(),
        rewards=rewards.hexdigest(),
        episode_rewards=tuple(episodes.values()),
    )
