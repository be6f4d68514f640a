"""How much of the steps the device worked, as measured on the traced machine."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from syncprobe.importing.trace_file import COPY, FILL, KERNEL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.importing.trace_file import TraceFile


def device_busy(trace: TraceFile, steps: Sequence[tuple[int, int]]) -> float:
    """The share of the steps in which at least one kernel, copy or fill ran."""
    work = [
        (event.start_ns, event.end_ns)
        for category in (KERNEL, COPY, FILL)
        for event in trace.of(category)
    ]
    stretches = list(_union(work))
    total = sum(end - start for start, end in steps)
    return sum(_covered(step, stretches) for step in steps) / total if total else 0.0


def _covered(step: tuple[int, int], stretches: Sequence[tuple[int, int]]) -> int:
    """How much of a step the stretches cover; they are in order and apart."""
    start, end = step
    place = bisect_right(stretches, start, key=lambda stretch: stretch[1])
    covered = 0
    while place < len(stretches) and stretches[place][0] < end:
        covered += min(stretches[place][1], end) - max(stretches[place][0], start)
        place += 1
    return covered


def _union(stretches: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The stretches joined where they touch or overlap, in order."""
    joined: tuple[int, int] | None = None
    for start, end in sorted(stretches):
        if joined is not None and start <= joined[1]:
            joined = (joined[0], max(joined[1], end))
            continue
        if joined is not None:
            yield joined
        joined = (start, end)
    if joined is not None:
        yield joined
