"""Which simulated device is active, and whether this thread is inside one of its handlers."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from syncprobe.simgpu.memory import Memory

if TYPE_CHECKING:
    from syncprobe.events import Sink


class Session:
    """What one ``with`` block owns: a device, or only someone who counts conversions."""

    __slots__ = ("has_device", "has_drawn", "memory", "sink")

    def __init__(self, sink: Sink, *, has_device: bool = False) -> None:
        self.sink = sink
        self.has_device = has_device
        self.memory = Memory()
        self.has_drawn = False
        """A device operation has drawn random numbers since the last seeding."""


OUTSIDE = 0
"""The program runs on this thread."""
INSIDE = 1
"""A handler runs: the host clock stands."""


class _Thread(threading.local):
    """Where this thread is: only the outermost handler stops the host clock."""

    place = OUTSIDE


class _Active:
    """The session in force, in a slot that the hot path reads without a global statement."""

    __slots__ = ("session",)

    def __init__(self) -> None:
        self.session: Session | None = None


thread = _Thread()
active = _Active()
