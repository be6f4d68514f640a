"""Steps and regions of a trace: ``ProfilerStep#N``, and what the program marked with ``record_function``."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from syncprobe.events import DEFAULT_REGION
from syncprobe.importing.nesting import by_thread
from syncprobe.importing.trace_file import ANNOTATION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.importing.trace_file import TraceEvent, TraceFile

STEP: Final = "ProfilerStep#"
OWN_MARKS: Final = (
    *(STEP, "Optimizer.", "enumerate(DataLoader)", "Torch-Compiled Region", "## ", "autograd::"),
    *("nccl:", "gloo:", "DistributedDataParallel.", "FSDP::", "[pl]"),
)
"""Marks that torch and its like set by themselves: no part of the program's step."""


class Marks:
    """Where in the program's step a moment lies.

    Args:
        trace: Whatever is not marked in it lies outside all steps, in the region ``other``.
    """

    def __init__(self, trace: TraceFile) -> None:
        annotations = trace.of(ANNOTATION)
        marked = [event for event in annotations if event.name.startswith(STEP)]
        self.main_thread = _main_thread(marked or annotations)
        """The thread that steps, and whose regions hold for threads that mark none."""
        self.steps = _apart([event for event in marked if event.thread == self.main_thread])
        """Start and end of each step."""
        self._starts = [start_ns for start_ns, _ in self.steps]
        self._regions = by_thread(
            [event for event in annotations if not event.name.startswith(OWN_MARKS)]
        )

    def is_in_step(self, at_ns: int) -> bool:
        """The moment lies in a step."""
        place = bisect_right(self._starts, at_ns) - 1
        return place >= 0 and at_ns < self.steps[place][1]

    def region(self, thread: str, at_ns: int) -> str:
        """The innermost region open at a moment."""
        for name in (thread, self.main_thread):
            nesting = self._regions.get(name)
            number = None if nesting is None else nesting.innermost(at_ns)
            if nesting is not None and number is not None:
                return nesting.events[number].name
        return DEFAULT_REGION

    def measured(self) -> list[dict[str, int]]:
        """Nanoseconds by region, for each step."""
        nesting = self._regions.get(self.main_thread)
        events = nesting.events if nesting is not None else ()
        borders = sorted({border for event in events for border in (event.start_ns, event.end_ns)})
        return [self._regions_between(start, end, borders) for start, end in self.steps]

    def _regions_between(self, start: int, end: int, borders: Sequence[int]) -> dict[str, int]:
        inside = borders[bisect_right(borders, start) : bisect_right(borders, end - 1)]
        spent: defaultdict[str, int] = defaultdict(int)
        for here, there in pairwise([start, *inside, end]):
            spent[self.region(self.main_thread, here)] += there - here
        return dict(spent)


def _main_thread(annotations: Sequence[TraceEvent]) -> str:
    threads = Counter(event.thread for event in annotations)
    return threads.most_common(1)[0][0] if threads else ""


def _apart(steps: Sequence[TraceEvent]) -> list[tuple[int, int]]:
    """Steps in order, each ending where the next begins at the latest; those of no length go."""
    starts = [event.start_ns for event in steps]
    limits = [*starts[1:], max((event.end_ns for event in steps), default=0)]
    ended = [min(event.end_ns, limit) for event, limit in zip(steps, limits, strict=False)]
    return [(start, end) for start, end in zip(starts, ended, strict=True) if end > start]
