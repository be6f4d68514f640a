"""Measured ratios in words: how many times faster, how sure that is, and when nobody can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.comparison.ratio import CONFIDENCE
from syncprobe.rendering import figures

if TYPE_CHECKING:
    from syncprobe.comparison.ratio import Ratio


ENOUGH_ROUNDS: Final = 2


def measured_ratio(ratio: Ratio) -> str:
    """The ratio with its interval; a difference that the interval does not decide is not claimed."""
    if ratio.low < 1.0 < ratio.high:
        return f"undecided, {interval(ratio)}"
    return f"{figures.faster(ratio.median)}, {interval(ratio)}"


def interval(ratio: Ratio) -> str:
    """Between what and what the ratio lies; one round says nothing about that."""
    if ratio.rounds < ENOUGH_ROUNDS:
        return "no interval from one round"
    low, high = figures.speedup(ratio.low), figures.speedup(ratio.high)
    return f"{CONFIDENCE:.0%} interval {low} to {high}"
