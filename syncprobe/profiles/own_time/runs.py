"""Own time of a run without steps: what the recorder measured, and what samples say about the rest."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from syncprobe.profiles.host import OwnTime
from syncprobe.profiles.own_time.steps import CALL_ERROR_NS, dearer_by, quartiles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from syncprobe.events import RegionTime

HANDOVER_ERROR: Final = 0.3
"""How far off the handover to the recorder may be, as a share of it."""
FASTER: Final = 0.5
UNDISTURBED: Final = 0.75
"""So many of the gaps before events of one sort are taken to be free of noise: at least, and at most."""


@dataclass(frozen=True, slots=True)
class ShortGaps:
    """Gaps before events of one sort that are too short for the recorder to tell them from its own cost."""

    region: str
    count: int
    """How many there are in the run."""
    seen: tuple[tuple[float, ...], ...] = ()
    """Own nanoseconds of those that were watched, stretch by stretch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunGaps:
    """The time between operations of a run, as far as the recorder and the stretches that were watched know it."""

    short: Sequence[ShortGaps] = ()
    others: int = 0
    """How many more short gaps there are, of sorts that were never watched."""
    long: int = 0
    """How many gaps were long enough to be measured."""
    handover_ns: float = 0.0
    """What was taken off each of those."""
    spikes_ns: float = 0.0
    """What was left out because it comes now and then where gaps are short: interrupts and the like."""
    stretches: int = 0
    """How many stretches of the run were watched."""
    waited_share: float = 0.0
    """How much of a usual stretch other processes kept the program from running."""
    yardstick_ns: float = 0.0
    """What the simplest call took beside a usual stretch."""


def calibrated(
    times: Mapping[str, RegionTime], steps: int, handover_ns: float, short_ns: float
) -> OwnTime:
    """Own time where nothing was watched: what the recorder measured between operations.

    Args:
        times: What the recorder measured, by region, the handover taken off already.
        steps: How many steps that was; 0 for a run without any.
        handover_ns: All that was taken off.
        short_ns: All stretches that were too short to tell.
    """
    scale = 1e6 * max(steps, 1)
    by_region = {name: time.host_ns / scale for name, time in times.items() if time.host_ns}
    total, error = sum(by_region.values()), HANDOVER_ERROR * handover_ns / scale
    return OwnTime(
        ms_per_step=total,
        low_ms=max(total - error, 0.0),
        high_ms=total + error + short_ns / scale,
        source="calibrated",
        steps=steps,
        by_region=by_region,
    )


def sampled(times: Mapping[str, RegionTime], gaps: RunGaps) -> OwnTime:
    """Own time of a run of which stretches were watched: long gaps as measured, short ones as in the stretches."""
    span = _Span()
    for name, time in times.items():
        span.add(name, time.host_ns, time.host_ns, time.host_ns)
    measured_error = HANDOVER_ERROR * gaps.handover_ns * gaps.long
    whole = _Span()
    watched = 0
    for short in gaps.short:
        middle, low, high = _usual(short.seen)
        watched += short.count
        for each in (span, whole):
            each.add(short.region, *(short.count * value for value in (middle, low, high)))
    if watched:
        # What was never watched is like the rest.
        share = gaps.others / watched
        for name, value in whole.by_region.items():
            span.add(name, share * value, 0.0, 0.0)
        span.low += share * whole.low
        span.high += share * whole.high
    call_error = CALL_ERROR_NS * (watched + gaps.others)
    return OwnTime(
        ms_per_step=sum(span.by_region.values()) / 1e6,
        low_ms=max(span.low - measured_error - call_error, 0.0)
        / dearer_by(gaps.waited_share)
        / 1e6,
        high_ms=(span.high + measured_error + call_error + gaps.spikes_ns) / 1e6,
        source="sampled",
        steps=gaps.stretches,
        by_region={name: value / 1e6 for name, value in span.by_region.items() if value > 0},
        waited_share=gaps.waited_share,
        yardstick_ns=gaps.yardstick_ns,
    )


@dataclass(slots=True)
class _Span:
    """Nanoseconds by region, and the least and the most that all of them may be."""

    by_region: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    low: float = 0.0
    high: float = 0.0

    def add(self, region: str, middle: float, low: float, high: float) -> None:
        self.by_region[region] += middle
        self.low += low
        self.high += high


def _usual(seen: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """What a gap of one sort is worth: the median of the stretches, and the least and the most of most of them.

    Noise only adds, so within a stretch the shorter gaps count.
    """
    values = [_shorter(FASTER, stretch) for stretch in seen]
    low, _ = quartiles(values)
    _, high = quartiles([_shorter(UNDISTURBED, stretch) for stretch in seen])
    return statistics.median(values), low, high


def _shorter(share: float, values: Sequence[float]) -> float:
    """The mean of the shorter ones."""
    return statistics.fmean(sorted(values)[: max(int(share * len(values)), 1)])
