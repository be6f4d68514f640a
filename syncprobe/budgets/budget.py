"""What a program may do per step: figures, limits on them, and budgets made of limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from syncprobe.errors import UnknownNameError
from syncprobe.profiles.model import SyncClass
from syncprobe.profiles.quantities import RATES

FIGURES: Final = (*RATES, *(str(sync_class) for sync_class in SyncClass))
"""All figures that can be limited: the rates, and syncs by whether they have to be there."""
PLURALS: Final = {
    "scalar_reads": "scalar_read",
    "copies_to_host": "copy_to_host",
    "copies_to_device": "copy_to_device",
    "implicit_syncs": "implicit_sync",
    "explicit_syncs": "explicit_sync",
    "conversions": "conversion",
    "launches": "launch",
    "allocations": "allocation",
}


def figure_named(name: str) -> str:
    """The figure that a name or its plural stands for.

    Raises:
        UnknownNameError: There is no such figure; the message suggests one.
    """
    figure = PLURALS.get(name, name)
    if figure not in FIGURES:
        raise UnknownNameError("figure", name, (*FIGURES, *PLURALS))
    return figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The most that a figure may be, per step, over the whole run or a part of it."""

    figure: str
    """One of `FIGURES`."""
    at_most: float
    region: str | None = None
    path: str | None = None
    """Only lines of files whose path matches this pattern, in which ``*`` stands for anything."""
    function: str | None = None
    """Only lines of functions whose qualified name matches this pattern."""
    committed: float | None = None
    """What the figure was in the committed profile, if the limit was worked out from it."""

    @property
    def is_regression(self) -> bool:
        """The limit is about growth, not about an amount that somebody chose."""
        return self.committed is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits under one name."""

    name: str
    limits: tuple[Limit, ...] = ()
    max_regression: float | None = None
    """How much every rate may grow against the committed profile: 0.05 is 5 %."""
    against: str | None = None
    """The committed profile's file, as the budget names it, or ``git:`` and a revision of the program."""
    min_speedup: float | None = None
    """How many times as fast as another variant it must be, measured in turns."""
    over: str = "baseline"
    """Which variant that is."""
