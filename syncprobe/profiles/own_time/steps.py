"""Own time: what is left of a step when operators, watchers and other processes are taken off."""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from syncprobe.profiles.host import OwnTime

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

SAME_SORT: Final = 1.5
"""Steps whose numbers of operators differ by less than this factor do the same thing."""
FIRST_STEPS: Final = 2
"""Warm-up of own time: first calls, lazily made state, caches."""
ENOUGH_LEFT: Final = 10
"""So many steps have to be left for the first ones to be dropped: learning may happen only now and then."""
ENOUGH_ALIKE: Final = 4
"""So many steps have to be alike to tell what is usual in them."""
MANY_ALIKE: Final = 12
"""Among fewer, a stretch of a large step is disturbed in two of them by chance: the middle one tells whether it is short."""
CALL_ERROR_NS: Final = 500
"""How far off the allowance for a call may be, per operator."""
HANDLER: Final = 4
"""How many calls it is worth to get to a handler in Python and back: a mark of a region, a copy."""
DEARER: Final = 1.5
"""By how much own code looks dearer, as a share, if others have the processor nearly all the time: caches are theirs."""
SHORT_NS: Final = 10_000
"""Stretches that are usually shorter than this are never believed to be longer."""


@dataclass(slots=True)
class StepWatch:
    """One step as it was watched; times in nanoseconds of one clock."""

    start_ns: int
    end_ns: int = 0
    crossings: list[tuple[int, str]] = field(default_factory=list)
    """When the program entered which region."""
    away: list[int] = field(default_factory=list)
    """When a watcher, not the program, had control: beginnings and ends in turns, in order.

    Here and below, a tuple for each would keep the garbage collector busy while the program runs.
    """
    waits: list[int] = field(default_factory=list)
    """Some moments, each followed by how long other processes had kept this one from running until then."""


@dataclass(frozen=True, slots=True)
class OwnStep:
    """The own time of one step."""

    gaps: tuple[tuple[str, float], ...]
    """Region and nanoseconds of each stretch between operators; 0 where there was only the call."""
    operators: int
    waited_share: float = 0.0
    """How much of the step other processes kept this one from running."""
    yardstick_ns: int = 0
    """What the simplest call took beside it; 0 if nobody knows."""

    @property
    def by_region(self) -> dict[str, float]:
        """Nanoseconds by region."""
        sums: defaultdict[str, float] = defaultdict(float)
        for region, own_ns in self.gaps:
            sums[region] += own_ns
        return dict(sums)


def own_step(
    watch: StepWatch,
    operators: Sequence[tuple[int, int]],
    allowance_ns: int,
    yardstick_ns: int = 0,
) -> OwnStep:
    """What the program itself took of a step.

    Args:
        watch: The step.
        operators: The spans of its outermost operators, in order.
        allowance_ns: What a call takes outside of the operator it calls: parsing arguments, wrapping and
            freeing results. The model pays for it with the launch.
        yardstick_ns: How fast the machine was.
    """
    borders = [since_ns for since_ns, _ in watch.crossings]
    gaps = tuple(
        (watch.crossings[max(bisect_right(borders, start_ns) - 1, 0)][1], own_ns)
        for start_ns, own_ns in own_gaps(watch, operators, allowance_ns)
    )
    waited_ns = watch.waits[-1] - watch.waits[1] if watch.waits else 0
    waited = waited_ns / max(watch.end_ns - watch.start_ns, 1)
    return OwnStep(gaps, len(operators), waited, yardstick_ns)


def own_gaps(
    watch: StepWatch, operators: Sequence[tuple[int, int]], allowance_ns: int
) -> list[tuple[int, float]]:
    """When each stretch between operators began, and what the program itself took of it; see `own_step`."""
    inside = [(start, end, allowance_ns) for start, end in operators]
    inside += [(start, end, HANDLER * allowance_ns) for start, end in _pairs(watch.away)]
    # The marks at both ends of a step are calls, too.
    inside.append((watch.end_ns, watch.end_ns, allowance_ns))
    stretches = _stretches(watch, sorted(inside), allowance_ns)
    _take_waiting_off(stretches, watch.waits)
    return [
        (stretch.start_ns, max(stretch.length_ns - stretch.allowance_ns, 0.0))
        for stretch in stretches
        if stretch.is_gap
    ]


@dataclass(slots=True)
class _Stretch:
    """A part of a step: between operators, or inside of one."""

    start_ns: int
    length_ns: int
    allowance_ns: int
    is_gap: bool


def _stretches(
    watch: StepWatch, inside: Iterable[tuple[int, int, int]], mark_ns: int
) -> list[_Stretch]:
    """The step from its beginning to its end, cut where the program gets and gives up control."""
    stretches: list[_Stretch] = []
    now = watch.start_ns
    extra_ns = mark_ns
    for start, end, allowance_ns in inside:
        if start > now:
            stretches.append(_Stretch(now, start - now, allowance_ns + extra_ns, is_gap=True))
            extra_ns = 0
            now = start
        if end > now:
            stretches.append(_Stretch(now, end - now, 0, is_gap=False))
            now = end
    return stretches


def _pairs(values: Sequence[int]) -> Iterator[tuple[int, int]]:
    return zip(values[::2], values[1::2], strict=True)


def _take_waiting_off(stretches: list[_Stretch], waits: Sequence[int]) -> None:
    """Shorten stretches by what other processes took.

    Between two moments at which the waiting was read, it is taken off the longest stretch: who is put
    aside is put aside for milliseconds.
    """
    starts = [stretch.start_ns for stretch in stretches]
    for (since_ns, before_ns), (until_ns, after_ns) in pairwise(_pairs(waits)):
        left_ns = after_ns - before_ns
        if left_ns <= 0:
            continue
        first = max(bisect_right(starts, since_ns) - 1, 0)
        among = stretches[first : bisect_right(starts, until_ns)]
        for stretch in sorted(among, key=lambda stretch: -stretch.length_ns):
            taken_ns = min(stretch.length_ns, left_ns)
            stretch.length_ns -= taken_ns
            left_ns -= taken_ns


def dearer_by(waited_share: float) -> float:
    """By what factor own code may look dearer than it is, if others had the processor for such a share of the time."""
    return 1.0 + DEARER * waited_share


def estimate(steps: Sequence[OwnStep], source: str) -> OwnTime | None:
    """Own time per step: for each sort of step its median, weighted by how often the sort occurs."""
    if len(steps) >= FIRST_STEPS + ENOUGH_LEFT:
        steps = steps[FIRST_STEPS:]
    if not steps:
        return None
    total = low = high = 0.0
    by_region: defaultdict[str, float] = defaultdict(float)
    for sort in _sorts(steps):
        weight = len(sort) / len(steps)
        spread = [step.by_region for step in _without_noise(sort)]
        totals = [sum(step.values()) for step in spread]
        middle = statistics.median(totals)
        first, third = quartiles(totals)
        error = CALL_ERROR_NS * statistics.fmean(step.operators for step in sort)
        total += weight * middle
        low += weight * max(first - error, 0.0)
        high += weight * (third + error)
        for name, share in _shares(spread).items():
            by_region[name] += weight * middle * share
    waited = statistics.median(step.waited_share for step in steps)
    return OwnTime(
        ms_per_step=total / 1e6,
        low_ms=low / dearer_by(waited) / 1e6,
        high_ms=high / 1e6,
        source=source,
        steps=len(steps),
        by_region={name: value / 1e6 for name, value in by_region.items()},
        waited_share=waited,
        yardstick_ns=statistics.median(step.yardstick_ns for step in steps),
    )


def _sorts(steps: Sequence[OwnStep]) -> list[list[OwnStep]]:
    """Steps that do the same thing, told by how many operators they call."""
    sorts: list[list[OwnStep]] = []
    for step in sorted(steps, key=lambda step: step.operators):
        if not sorts or step.operators > SAME_SORT * max(sorts[-1][0].operators, 1):
            sorts.append([])
        sorts[-1].append(step)
    return sorts


def _without_noise(steps: Sequence[OwnStep]) -> list[OwnStep]:
    """Steps without what happened between two calls now and then: an interrupt, a collection of garbage.

    Steps that are made of the same stretches can be laid side by side. Where a stretch is short in most of
    them, it is as short in all of them; only where it is long does its length tell of the program.
    """
    if len(steps) < ENOUGH_ALIKE or len({len(step.gaps) for step in steps}) > 1:
        return list(steps)
    columns = [_cleaned(column) for column in zip(*(step.gaps for step in steps), strict=True)]
    rows = zip(*columns, strict=True) if columns else ((),) * len(steps)
    return [OwnStep(row, step.operators) for row, step in zip(rows, steps, strict=True)]


def _cleaned(column: Sequence[tuple[str, float]]) -> Sequence[tuple[str, float]]:
    """One stretch in all steps; if it is short it is as long as in the faster ones: noise only adds."""
    ordered = sorted(own_ns for _, own_ns in column)
    usual = len(ordered) * 3 // 4 if len(ordered) >= MANY_ALIKE else len(ordered) // 2
    if ordered[usual] > SHORT_NS:
        return column
    return [(region, ordered[len(ordered) // 4]) for region, _ in column]


def _shares(steps: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """How the own time of a sort of steps is spread over regions."""
    names = dict.fromkeys(name for step in steps for name in step)
    medians = {name: statistics.median(step.get(name, 0.0) for step in steps) for name in names}
    whole = sum(medians.values())
    return {name: value / whole for name, value in medians.items() if value > 0}


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """The first and the third."""
    if len(values) == 1:
        return values[0], values[0]
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return first, third
