"""Which of many nested stretches of time are open at a given moment."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.importing.trace_file import TraceEvent


class Nesting:
    """The events of one thread, each knowing the one around it.

    Args:
        events: In the order of time, outer before inner.
    """

    def __init__(self, events: Sequence[TraceEvent]) -> None:
        self.events = events
        self._starts = [event.start_ns for event in events]
        self._parents: list[int | None] = []
        is_open: list[int] = []
        for number, event in enumerate(events):
            while is_open and events[is_open[-1]].end_ns <= event.start_ns:
                is_open.pop()
            self._parents.append(is_open[-1] if is_open else None)
            is_open.append(number)

    def innermost(self, at_ns: int) -> int | None:
        """The number of the innermost event that is open at a moment."""
        return next(self.around(at_ns), None)

    def around(self, at_ns: int) -> Iterator[int]:
        """The numbers of all events that are open at a moment, innermost first."""
        number: int | None = bisect_right(self._starts, at_ns) - 1
        if number == -1:
            number = None
        while number is not None:
            if self._is_open(number, at_ns):
                yield number
            number = self._parents[number]

    def _is_open(self, number: int, at_ns: int) -> bool:
        event = self.events[number]
        return at_ns < event.end_ns or at_ns == event.start_ns


def by_thread(events: Sequence[TraceEvent]) -> dict[str, Nesting]:
    """The nesting of each thread."""
    threads: dict[str, list[TraceEvent]] = {}
    for event in events:
        threads.setdefault(event.thread, []).append(event)
    return {thread: Nesting(found) for thread, found in threads.items()}
