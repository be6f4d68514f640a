"""What each thread of the program is doing and has done."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from syncprobe.events import DEFAULT_REGION, EventKind, EventSum
from syncprobe.recording.callsite import Memo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.events import Origin


class ThreadState:
    """One thread; nobody else writes here, so nobody has to wait."""

    __slots__ = ("is_paused", "launches", "memo", "name", "origin", "regions", "sums")

    def __init__(self) -> None:
        self.name = threading.current_thread().name
        self.regions = [DEFAULT_REGION]
        self.is_paused = False
        """An operation is under way: the program does not have control."""
        self.origin: Origin | None = None
        """Who asked for that operation, once it is known; an operation can cause several events."""
        self.memo = Memo()
        self.sums: dict[tuple[object, ...], EventSum] = {}
        self.launches: dict[tuple[str, int, str], tuple[EventSum, EventSum]] = {}
        """The sums of allocations and launches that belong together, also found in ``sums``."""

    def new_pair(self, operation: str, origin: Origin, region: str) -> tuple[EventSum, EventSum]:
        """The sums of an operation's allocations and launches, the same that single events are added to."""
        pair = []
        for kind in (EventKind.ALLOCATION, EventKind.LAUNCH):
            key = (id(kind), operation, False, id(origin), region)
            new = EventSum(kind, operation, origin, region, is_blocking=False)
            pair.append(self.sums.setdefault(key, new))
        made = (pair[0], pair[1])
        self.launches[operation, id(origin), region] = made
        return made


class Threads(threading.local):
    """Leads every thread to its own state, which stays known when the thread is gone."""

    def __init__(self, everyone: list[ThreadState]) -> None:
        self.thread = ThreadState()
        everyone.append(self.thread)


def sums_of(everyone: list[ThreadState]) -> Iterator[EventSum]:
    """The sums of all threads, in the order of their first events."""
    return (event_sum for thread in everyone for event_sum in thread.sums.values())
