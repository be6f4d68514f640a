"""Time that others took from this program: it was ready to run and had to wait for its turn."""

from __future__ import annotations

import os
import time
import weakref
from typing import Final

try:
    import resource
except ImportError:  # not on Windows
    _WHO = None
else:
    _WHO = getattr(resource, "RUSAGE_THREAD", None)

_STATISTICS: Final = "/proc/thread-self/schedstat"
_WAITED: Final = 1
"""The place of the time spent waiting on a run queue, in nanoseconds; Linux documents the order."""
_SIZE: Final = 128
NOTHING_NS: Final = 10_000
"""Clocks that are read one after the other differ by less."""


class WaitingTime:
    """How long the thread that made it has waited for a processor.

    Without a voluntary pause, all that is not processor time was waiting. A program that also sleeps, or
    waits for a file, is asked for by the scheduler's own figures.
    """

    def __init__(self) -> None:
        self._file: int | None = None
        self._waited_ns = 0
        if _WHO is None:
            return  # The system does not tell.
        try:
            self._file = os.open(_STATISTICS, os.O_RDONLY)
        except OSError:
            pass
        else:
            weakref.finalize(self, os.close, self._file)
        self._idle_ns = time.perf_counter_ns() - time.thread_time_ns()
        self._last = self._read()

    def now_ns(self) -> int:
        """Nanoseconds so far; always 0 where the system does not tell.

        This is asked at every operator of a step that is watched, so the dear figures are read only if there
        was something to tell apart.
        """
        if _WHO is None:
            return 0
        before_ns, self._idle_ns = self._idle_ns, time.perf_counter_ns() - time.thread_time_ns()
        idle_ns = self._idle_ns - before_ns
        if idle_ns > NOTHING_NS:
            last, self._last = self._last, self._read()
            queued_ns, pauses = (now - before for now, before in zip(self._last, last, strict=True))
            waited_ns = queued_ns if pauses else idle_ns
            if waited_ns > NOTHING_NS:
                self._waited_ns += waited_ns
        return self._waited_ns

    def _read(self) -> tuple[int, int]:
        """Time in the queue for a processor, and number of voluntary pauses."""
        assert _WHO is not None, "asked only where the system tells"
        queued_ns = 0
        if self._file is not None:
            queued_ns = int(os.pread(self._file, _SIZE, 0).split()[_WAITED])
        return queued_ns, resource.getrusage(_WHO).ru_nvcsw


class WaitingSince:
    """How long the thread that made it has waited for a processor since some moment, as `WaitingTime` knows it."""

    def __init__(self) -> None:
        self._waiting = WaitingTime()
        self._before_ns = self.restarted_ns = 0
        self.restart()

    def restart(self) -> None:
        """That moment is now."""
        self.restarted_ns = time.perf_counter_ns()
        self._before_ns = self._waiting.now_ns()

    def since_ns(self) -> int:
        """Nanoseconds; 0 if the system does not tell."""
        return self._waiting.now_ns() - self._before_ns
