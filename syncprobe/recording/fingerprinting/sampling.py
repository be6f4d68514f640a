"""Which steps to look at, so that looking costs a few percent: every one, every second, every fourth and so on."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARE: Final = 0.03
"""Of a run's time; below the five percent that users are promised, because the next look is not paid yet."""
FREE_NS: Final = 50_000_000
"""So much is spent in any case: a short run is looked at closely."""


class Pausable(Protocol):
    """A clock that does not count what is not the program's."""

    def pause(self) -> None:
        """Time is not the program's from now on."""

    def resume(self) -> None:
        """It is again."""


class Sampler:
    """Decides from step to step, and knows what looking has cost so far."""

    def __init__(self, *, is_thorough: bool, stopwatch: Pausable | None = None) -> None:
        self.is_thorough = is_thorough
        self.stride = 1
        self.step = 0
        """Steps that are over."""
        self._stopwatch = stopwatch
        self._began_ns = time.perf_counter_ns()
        self._spent_ns = 0

    def next_step(self) -> bool:
        """A step is over; whether to look at it."""
        self.step += 1
        if self.step % self.stride:
            return False
        if self.is_thorough or self._is_affordable():
            return True
        self.stride *= 2
        return False

    def _is_affordable(self) -> bool:
        elapsed_ns = time.perf_counter_ns() - self._began_ns
        return self._spent_ns <= max(FREE_NS, SHARE * elapsed_ns)

    @contextmanager
    def working(self) -> Iterator[None]:
        """What happens inside is not the program's."""
        began_ns = time.perf_counter_ns()
        if self._stopwatch is not None:
            self._stopwatch.pause()
        try:
            yield
        finally:
            self._spent_ns += time.perf_counter_ns() - began_ns
            if self._stopwatch is not None:
                self._stopwatch.resume()
