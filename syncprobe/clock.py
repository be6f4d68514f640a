"""Time as a value that can be handed in, so that tests can hand in their own."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """A monotonic clock."""

    def now_ns(self) -> int:
        """Nanoseconds since some fixed moment."""


class SystemClock:
    """The machine's monotonic clock."""

    now_ns = staticmethod(time.perf_counter_ns)
    """Nanoseconds of ``time.perf_counter``."""
