"""How many times faster, with how much certainty: ratios of interleaved measurements."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe import bootstrap

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A median of ratios and the interval that a bootstrap gives it."""

    median: float
    low: float
    high: float
    rounds: int

    @property
    def inverse(self) -> Ratio:
        """The same measurements, the other way round."""
        return Ratio(
            median=1 / self.median, low=1 / self.high, high=1 / self.low, rounds=self.rounds
        )

    def at_least(self, bound: float) -> bool | None:
        """Whether the ratio reaches a bound; None if the measurement cannot tell."""
        if self.low >= bound:
            return True
        if self.high < bound:
            return False
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Speedup:
    """Two variants timed in turns: what each takes, and how many times faster the second is."""

    before_ms: float
    """Median of the passes, per step."""
    after_ms: float
    ratio: Ratio


def speedup_of(before_ms: Sequence[float], after_ms: Sequence[float]) -> Speedup:
    """Milliseconds per step of each pass, one pair per round."""
    ratio = ratio_of(before_ms, after_ms)
    return Speedup(
        before_ms=statistics.median(before_ms), after_ms=statistics.median(after_ms), ratio=ratio
    )


def ratio_of(before: Sequence[float], after: Sequence[float]) -> Ratio:
    """How many times longer ``before`` took than ``after``, measured in turns: one pair per round.

    Pairing cancels what slows both down alike; the bootstrap resamples pairs.
    """
    if len(before) != len(after) or not before:
        raise ValueError(f"Ratios need pairs of measurements, not {len(before)} and {len(after)}.")
    ratios = [first / second for first, second in zip(before, after, strict=True)]
    low, high = bootstrap.interval(ratios, statistics.median, CONFIDENCE)
    return Ratio(median=statistics.median(ratios), low=low, high=high, rounds=len(ratios))
