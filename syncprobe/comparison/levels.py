"""The plan and what its levels are worth: each step brings those before it along."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from syncprobe.comparison.ratio import ratio_of
from syncprobe.comparison.settling import settled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.comparison.ratio import Ratio
    from syncprobe.profiles.model import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """One step of the plan."""

    number: int
    name: str
    title: str
    replaces: str
    removes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The plan up to some step, as it runs here."""

    name: str
    recorded: Profile
    profile: Profile
    """As it is to be compared: with the own time of the level before, wherever that did not really change."""
    speedup: Ratio
    """Measured against the first level, in turns."""
    ms_per_step: float
    """Measured, median of the passes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReport:
    """The steps, and every level of them."""

    steps: tuple[PlanStep, ...]
    levels: tuple[Level, ...]
    """The first has no step; empty if nothing was run."""


def levels_of(
    runs: Sequence[tuple[str, Profile, Sequence[float]]],
) -> tuple[Level, ...]:
    """Levels from their names, profiles and measured milliseconds per step of each pass."""
    _, _, baseline = runs[0]
    shown = settled([recorded for _, recorded, _ in runs])
    return tuple(
        Level(
            name=name,
            recorded=recorded,
            profile=profile,
            speedup=ratio_of(baseline, passes),
            ms_per_step=statistics.median(passes),
        )
        for (name, recorded, passes), profile in zip(runs, shown, strict=True)
    )
