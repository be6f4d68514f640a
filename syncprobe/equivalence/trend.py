"""Whether two runs earn the same: rewards of the same episodes within a tolerance, else a bootstrap."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe import bootstrap

if TYPE_CHECKING:
    from collections.abc import Sequence

TOLERANCE: Final = 0.01
"""Per episode reward, absolute up to 1 and relative above."""
CONFIDENCE: Final = 0.999
"""High, because one verification makes dozens of these tests and none may fail by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """How the rewards of two runs compare, pair by pair."""

    pairs: int
    largest: float
    """Difference of one pair."""
    is_within: bool
    """All pairs are within the tolerance."""
    mean: float = 0.0
    """Second minus first."""
    low: float = 0.0
    high: float = 0.0
    """What a bootstrap over episodes gives as the interval of the mean; not computed within the tolerance."""

    @property
    def is_significant(self) -> bool:
        """The mean is off by more than the tolerance, and not by chance."""
        return not self.is_within and (self.low > TOLERANCE or self.high < -TOLERANCE)


def trend_of(first: Sequence[Sequence[float]], second: Sequence[Sequence[float]]) -> Trend:
    """Compare rewards that belong together: of each episode those of its robots, in their order.

    Runs that drift apart by rounding end up with other rewards now and then, better ones as often as worse
    ones; a fault moves the mean. The bootstrap draws whole episodes: robots of one episode share a map and see
    each other, so that their rewards are one observation, not several.
    """
    if [len(robots) for robots in first] != [len(robots) for robots in second]:
        raise ValueError("Trends need rewards of the same robots of the same episodes.")
    pairs = [
        (before, after)
        for robots in zip(first, second, strict=True)
        for before, after in zip(*robots, strict=True)
    ]
    largest = max((abs(after - before) for before, after in pairs), default=0.0)
    is_within = all(
        abs(after - before) <= TOLERANCE * max(1.0, abs(before)) for before, after in pairs
    )
    if is_within:
        return Trend(pairs=len(pairs), largest=largest, is_within=True)
    differences = [
        statistics.fmean(after) - statistics.fmean(before)
        for before, after in zip(first, second, strict=True)
        if before
    ]
    low, high = bootstrap.interval(differences, statistics.fmean, CONFIDENCE)
    return Trend(
        pairs=len(pairs),
        largest=largest,
        is_within=False,
        mean=statistics.fmean(differences),
        low=low,
        high=high,
    )
