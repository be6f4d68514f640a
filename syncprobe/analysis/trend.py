"""Whether two runs earn the same: rewards of the same episodes within a tolerance, else a bootstrap."""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

TOLERANCE: Final = 0.01
"""Per episode reward, absolute up to 1 and relative above."""
RESAMPLES: Final = 2000
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
    """What a bootstrap over pairs gives as the interval of the mean; not computed within the tolerance."""

    @property
    def is_significant(self) -> bool:
        """The difference is neither within the tolerance nor explained by chance."""
        return not self.is_within and not self.low <= 0.0 <= self.high


def trend_of(first: Sequence[float], second: Sequence[float]) -> Trend:
    """Compare rewards that belong together.

    Runs that drift apart by rounding end up with other rewards now and then, better ones as often as worse
    ones; a fault moves the mean.
    """
    if len(first) != len(second):
        raise ValueError(f"Trends need pairs of rewards, not {len(first)} and {len(second)}.")
    differences = [after - before for before, after in zip(first, second, strict=True)]
    largest = max(map(abs, differences), default=0.0)
    is_within = all(
        abs(difference) <= TOLERANCE * max(1.0, abs(before))
        for difference, before in zip(differences, first, strict=True)
    )
    if is_within:
        return Trend(pairs=len(first), largest=largest, is_within=True)
    generator = random.Random(0)  # the same rewards always give the same interval
    means = sorted(
        statistics.fmean(generator.choices(differences, k=len(differences)))
        for _ in range(RESAMPLES)
    )
    tail = (1.0 - CONFIDENCE) / 2.0
    return Trend(
        pairs=len(first),
        largest=largest,
        is_within=False,
        mean=statistics.fmean(differences),
        low=means[int(tail * RESAMPLES)],
        high=means[int((1.0 - tail) * RESAMPLES) - 1],
    )
