"""Which simulated device is active, and whether this thread is inside one of its handlers."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING

from syncprobe.simgpu.tensors.memory import Memory

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from syncprobe.events import EventKind, Sink, Successor


class SilentSink:
    """Hears everything and keeps nothing."""

    def pause(self) -> None:
        """An operation begins."""

    def resume(self) -> None:
        """An operation is over."""

    def emit(
        self,
        kind: EventKind,
        operation: str,
        *,
        is_blocking: bool = False,
        nbytes: int = 0,
        flops: int = 0,
    ) -> None:
        """Something happened."""

    def emit_launch(
        self, operation: str, allocated: int, nbytes: int, flops: int, resumes: bool
    ) -> None:
        """Something was launched."""

    def charged_to_caller(self) -> AbstractContextManager[None]:
        """Nothing is charged to anybody."""
        return nullcontext()

    def unknown_operation(self, operation: str) -> None:
        """An operator was not known."""

    def note(self, text: str) -> None:
        """There was something to say."""

    def successor(self) -> Successor | None:
        """Nobody wants to know what other processes do."""
        return None


class Session:
    """What one ``with`` block owns: a device, or only someone who counts conversions."""

    __slots__ = ("has_device", "has_drawn", "has_dropout_state", "memory", "sink")

    def __init__(self, sink: Sink, *, has_device: bool = False) -> None:
        self.sink = sink
        self.has_device = has_device
        self.memory = Memory()
        self.has_drawn = False
        """A device operation has drawn random numbers since the last seeding."""
        self.has_dropout_state = False
        """A recurrent layer has drawn its seed for dropout since the last seeding."""


OUTSIDE = 0
"""The program runs on this thread."""
INSIDE = 1
"""A handler runs: the host clock stands."""


class _Thread(threading.local):
    """Where this thread is: only the outermost handler stops the host clock."""

    place = OUTSIDE
    is_outermost = False
    """The handler that runs is the one that stopped the clock."""


class _Active:
    """The session in force, in a slot that the hot path reads without a global statement."""

    __slots__ = ("session",)

    def __init__(self) -> None:
        self.session: Session | None = None


thread = _Thread()
active = _Active()
