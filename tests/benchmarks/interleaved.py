"""Ratios that hold on a noisy machine: variants take turns in one process, and medians are compared."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def median_ratio(
    variant: Callable[[], object], baseline: Callable[[], object], rounds: int = 5
) -> float:
    """How many times longer the variant takes, as the median over rounds of one call each."""
    ratios = []
    for _ in range(rounds):
        before = seconds(baseline)
        ratios.append(seconds(variant) / before)
    return statistics.median(ratios)
