"""Measured time: a clean pass, watched only at the borders of steps and regions."""

from __future__ import annotations

import sys
import threading
from collections import defaultdict
from typing import TYPE_CHECKING

from syncprobe.events import DEFAULT_REGION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from syncprobe.clock import Clock


class Stopwatch:
    """Adds up wall time by step and region; a nested region's time is not its parent's.

    Only the thread that made it is timed: what other threads do at the same time is not a step's cost.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        warmup: int = 0,
        max_steps: int | None = None,
        on_step: Callable[[int], None] | None = None,
    ) -> None:
        self._now_ns = clock.now_ns
        self._on_step = on_step
        self._warmup = warmup
        self._last_step = sys.maxsize if max_steps is None else warmup + max_steps
        self._thread = threading.get_ident()
        self._regions = [DEFAULT_REGION]
        self._since_ns = self._now_ns()
        self._steps_started = 0
        self._current: defaultdict[str, int] | None = defaultdict(int)
        self._whole = self._current
        self._steps: list[dict[str, int]] = []

    def begin_step(self) -> None:
        """Close the open step and open the next one, unless warm-up or the limit says not to."""
        self.end_step()
        if self._on_step is not None:
            self._on_step(self._steps_started)
            self._lap()
        if self._warmup <= self._steps_started < self._last_step:
            self._current = defaultdict(int)
            self._steps.append(self._current)
        self._steps_started += 1

    def end_step(self) -> None:
        """Close the open step."""
        self._lap()
        self._current = None

    def drop_step(self) -> None:
        """The open step is none."""
        self._steps_started -= 1
        if self._current is not None:
            self._steps.pop()
            self._current = None

    def forget_steps(self) -> None:
        """All steps so far were none."""
        self._steps_started = 0
        self._steps.clear()
        self._current = None

    @property
    def has_enough(self) -> bool:
        """All steps to time are timed."""
        return self._current is None and self._steps_started >= self._last_step

    def enter_region(self, name: str) -> None:
        """Charge time to a region from now on."""
        if threading.get_ident() == self._thread:
            self._lap()
            self._regions.append(name)

    def leave_region(self) -> None:
        """Charge time to the region that was open before."""
        if threading.get_ident() == self._thread:
            self._lap()
            self._regions.pop()

    def pause(self) -> None:
        """What follows is not the program's."""
        self._lap()

    def resume(self) -> None:
        """The program goes on."""
        self._since_ns = self._now_ns()

    @property
    def steps(self) -> tuple[Mapping[str, int], ...]:
        """Nanoseconds by region, step by step; one entry for the whole run if no step was marked."""
        return tuple(self._steps) or (self._whole,)

    def _lap(self) -> None:
        now_ns = self._now_ns()
        if self._current is not None:
            self._current[self._regions[-1]] += now_ns - self._since_ns
        self._since_ns = now_ns
