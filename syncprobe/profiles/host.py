"""What a profile knows about the host: the program's own time, where it goes, and what is in no step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from syncprobe.events import CallSite

BUSY_SHARE: Final = 0.3
"""A process that waits so much for a processor finds its caches emptied by others whenever it runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTime:
    """What a step takes outside of torch's operators: the program's own code, and the libraries' in Python."""

    ms_per_step: float
    low_ms: float
    high_ms: float
    """The least and the most it may be, given how much steps vary and how well calls are calibrated."""
    source: str
    """``watched``: seen step by step through torch's profiler; ``sampled``: the same in stretches of a run without
    steps; ``calibrated``: what the recorder left."""
    steps: int
    """From how many steps, or stretches, it is known."""
    by_region: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds per step."""
    waited_share: float = 0.0
    """How much of that time other processes kept the program from running; the least allows for the caches they emptied."""
    yardstick_ns: float = 0.0
    """What the simplest call took outside of its operator meanwhile: how fast the machine was; 0 if nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Host time that belongs to no step, in the recorded pass: good for orders of magnitude."""

    before_ms: float
    """Imports, building, loading, and the steps that are not recorded."""
    between_ms: float
    after_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HotSpot:
    """A function or a line that takes much of the host's time, by samples of a pass without recording."""

    site: CallSite
    """For a function the line where it begins."""
    is_function: bool
    share: float
    """Of the samples in which the program's own code was running, not those below it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HotCall:
    """One call in the tree of the host's own time: a function of the user, called by the one above it."""

    site: CallSite
    """The line where the function begins."""
    depth: int
    """How many calls of the user's functions are above it; a call's parent is the last one before it that is less deep."""
    share: float
    """Of own time, in it and in all that it calls."""
    own_share: float
    """Of own time, in it alone and in the libraries it calls."""
