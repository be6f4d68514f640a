"""From measured step times to the figures a profile shows."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from syncprobe.profiles.model import Spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def step_spread(steps: Sequence[Mapping[str, int]]) -> Spread:
    """Milliseconds per step, from nanoseconds by region."""
    totals = [sum(step.values()) / 1e6 for step in steps]
    if len(totals) == 1:
        return Spread(median=totals[0], p10=totals[0], p90=totals[0])
    deciles = statistics.quantiles(totals, n=10, method="inclusive")
    return Spread(median=statistics.median(totals), p10=deciles[0], p90=deciles[-1])


def region_means(steps: Sequence[Mapping[str, int]]) -> dict[str, float]:
    """Mean milliseconds per step by region: means add up to the mean step, medians would not."""
    names = dict.fromkeys(name for step in steps for name in step)
    return {name: sum(step.get(name, 0) for step in steps) / 1e6 / len(steps) for name in names}
