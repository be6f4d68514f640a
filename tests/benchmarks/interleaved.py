"""Ratios that hold on a noisy machine: variants take turns in one process, and medians are compared."""

from __future__ import annotations

import time
from collections.abc import Callable

from syncprobe.analysis.ratio import Ratio, ratio_of

Work = Callable[[], object]


def seconds(work: Work) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def ratio(before: Work, after: Work, rounds: int = 5) -> Ratio:
    """How many times longer the first takes than the second, A B A B."""
    pairs = [(seconds(before), seconds(after)) for _ in range(rounds)]
    return ratio_of([first for first, _ in pairs], [second for _, second in pairs])
