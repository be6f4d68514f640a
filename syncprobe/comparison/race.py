"""Whether one way of doing a thing is so many times faster than another, decided on a noisy machine.

Both take turns in one process, so that a slow moment hits both alike. Rounds are added until the bootstrap
interval of the ratio lies on one side of the bound, or a limit is reached: then nobody knows, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.clock import SystemClock
from syncprobe.comparison.ratio import Speedup, speedup_of
from syncprobe.errors import SyncprobeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from syncprobe.clock import Clock

ROUNDS: Final = 5
MOST_ROUNDS: Final = 80
FEWEST_ROUNDS: Final = 3
"""Fewer pairs say nothing about their own spread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedVerdict:
    """What a race between two callables gave."""

    speedup: Speedup
    bound: float

    @property
    def is_reached(self) -> bool | None:
        """Whether the ratio reaches the bound; None if the measurement cannot tell."""
        return self.speedup.ratio.at_least(self.bound)


def race(
    before: Callable[[], float],
    after: Callable[[], float],
    *,
    at_least: float,
    rounds: int = ROUNDS,
    most_rounds: int = MOST_ROUNDS,
) -> SpeedVerdict:
    """Take turns, A B A B, until it is clear whether ``after`` is ``at_least`` times faster.

    The interval is looked at after ``rounds`` rounds and whenever their number has doubled: looking after each
    one would sooner or later find whatever is looked for.

    Args:
        before: Does the work once and returns how long it took, in milliseconds.
        after: The same, in the way that is to be faster.
        at_least: The ratio to reach; below 1 for something that may be slower.
        rounds: Pairs before the first look, after one pair that only warms up.
        most_rounds: Pairs after which an open question stays open.
    """
    if not at_least > 0:
        raise SyncprobeError(f"A speed-up of at least {at_least:g} means nothing; give it above 0.")
    if rounds < FEWEST_ROUNDS or most_rounds < rounds:
        raise SyncprobeError(
            f"Cannot decide with {rounds} to {most_rounds} rounds; give at least {FEWEST_ROUNDS}."
        )
    before(), after()
    pairs: list[tuple[float, float]] = []
    look = rounds
    while True:
        pairs += [(before(), after()) for _ in range(look - len(pairs))]
        verdict = SpeedVerdict(
            speedup=speedup_of([first for first, _ in pairs], [second for _, second in pairs]),
            bound=at_least,
        )
        if verdict.is_reached is not None or look == most_rounds:
            return verdict
        look = min(2 * look, most_rounds)


def timed(work: Callable[[], object], clock: Clock | None = None) -> Callable[[], float]:
    """The work as something that returns how long it took, in milliseconds."""
    now_ns = (clock or SystemClock()).now_ns

    def measure() -> float:
        started = now_ns()
        work()
        return max(now_ns() - started, 1) / 1e6

    return measure
