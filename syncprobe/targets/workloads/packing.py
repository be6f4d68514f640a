"""Hierarchical packing as a target."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from syncprobe.errors import UnknownNameError
from syncprobe.targets.base import OptionError, parse_number
from syncprobe.targets.options import filled
from syncprobe.targets.workloads.target import Done, WorkloadTarget

if TYPE_CHECKING:
    from collections.abc import Iterator

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


class PackingTarget(WorkloadTarget):
    """Objects that are put into a box by two networks."""

    name = "packing"
    regions = REGIONS
    past: Past | None = None

    def completed(self, options: TargetOptions) -> TargetOptions:
        """The options with all defaults filled in."""
        return completed(options)

    def build_trainer(self, device: str) -> Any:
        """A trainer of the given size."""
        return build_trainer(self.options, device)

    def done(self, record: Any) -> Done:
        """Where which object went, and what that was worth."""
        import numpy as np  # the built-in targets need it, importing syncprobe does not

        placement, reward = record.placement, float(record.reward)
        turned = placement.number, placement.orientation
        return Done(
            episode=record.episode,
            action=np.array([*turned, *record.placed], dtype=np.float64),
            rewards=np.array(reward),
            total=reward,
        )

    def look_back(self, trainer: Any, records: list[Any]) -> None:
        """Note whether anything was trained, and what the log says."""
        self.past = _past(trainer, len(records), self.options.log_every)

    def describe(self, run: Run) -> Run:
        """Add the options of the run, and what has to be known about it."""
        described = super().describe(run)
        return replace(described, notes=(*run.notes, *notes_on(self.options, self.past)))


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
