"""The program's own host time, step by step: what torch's operators and the recorder leave of it."""

from __future__ import annotations

import gc
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from syncprobe.profiles.own_time.steps import StepWatch, own_step
from syncprobe.recording.own_time.calibration import (
    CALLS,
    call_yardstick_unnoticed,
    has_modes,
    median_gap,
)
from syncprobe.recording.own_time.operator_spans import OperatorSpans, place_of
from syncprobe.recording.own_time.scheduling import NOTHING_NS, WaitingTime
from syncprobe.recording.own_time.stretches import Stretches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.profiles.own_time.steps import OwnStep
    from syncprobe.recording.own_time.calibration import CallCost
    from syncprobe.recording.own_time.operator_spans import Span

ENOUGH_STEPS: Final = 40
FEW_STEPS: Final = 12
"""So many are watched at once, if there are that many; they show what a program does only now and then."""
VERY_FEW_STEPS: Final = 6
"""So many whatever it costs, unless a single one is too large."""
SPARSE: Final = 10
"""After those, so many steps pass for each one that is watched: it takes longer than others, by a third or more."""
BUDGET_NS: Final = 2_000_000_000
"""What watching may cost in all."""
MAX_OPERATORS: Final = 20_000
"""A step of more operators would take seconds and hundreds of megabytes to collect."""
ROW_OPERATORS: Final = 2_000
ROW_STEPS: Final = 9
"""How long the profiler stays on: for so many operators, but not more steps in a row than this."""
SMALL_STEP: Final = 200
"""For a step of so few operators it matters that starting the profiler has emptied the caches."""


@contextmanager
def _collector_off() -> Iterator[None]:
    """Thousands of objects that live for a moment must not make Python look through all of the program's."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class OwnTimer:
    """Watches steps, a few in a row, until it has seen enough of them.

    The first of a row of small ones is left out.

    Args:
        call: What a bare call of an operator took when it was calibrated.
    """

    def __init__(self, call: CallCost) -> None:
        self._call = call
        self._spans = OperatorSpans()
        self._waiting = WaitingTime()
        self._watch: StepWatch | None = None
        self._row: list[StepWatch] = []
        self._is_on = self._has_cold_start = False
        self._left = 0
        self._resumed_ns = 0
        self._begun = 0
        self._spent_ns = 0
        self.steps: list[OwnStep] = []
        self.stretches = Stretches(call, self._spans)
        """What is watched while there are no steps."""

    def begin(self, region: str, expected_operators: int) -> None:
        """A step begins, in a region, and will call about so many operators."""
        self._begun += 1
        if not self._left and self._should_watch(expected_operators):
            self._start_row(expected_operators)
        if self._left:
            waited_ns = self._waiting.now_ns()
            call_yardstick_unnoticed()
            start_ns = self._resumed_ns = time.perf_counter_ns()
            self._watch = StepWatch(
                start_ns, crossings=[(start_ns, region)], waits=[start_ns, waited_ns]
            )

    def cross(self, region: str, since_ns: int) -> None:
        """The program goes on in a region now; since then the watchers worked."""
        if self._watch is not None:
            now_ns = time.perf_counter_ns()
            self._watch.away += (since_ns, now_ns)
            self._watch.crossings.append((now_ns, region))

    def pause(self, at_ns: int) -> None:
        """The program gives up control; what it waited for a processor until then is its own.

        In no time it cannot have waited.
        """
        if self._watch is not None:
            self._spans.look_away()
            if at_ns - self._resumed_ns > NOTHING_NS:
                self._watch.waits += (at_ns, self._waiting.now_ns())

    def resume(self, since_ns: int, until_ns: int) -> None:
        """The program has control again; meanwhile it did not."""
        if self._watch is not None:
            self._watch.away += (since_ns, until_ns)
            self._watch.waits += (until_ns, self._waiting.now_ns())
            self._resumed_ns = until_ns
            self._spans.look_again()

    def end(self, at_ns: int) -> None:
        """The step is over since then."""
        watch, self._watch = self._watch, None
        if watch is None:
            return
        watch.end_ns = at_ns
        watch.waits += (at_ns, self._waiting.now_ns())
        self._row.append(watch)
        self._left -= 1
        if not self._left:
            self.close()

    def drop(self) -> None:
        """The step that is being watched is none."""
        if self._watch is not None:
            self._watch = None
            self._left -= 1
            if not self._left:
                self.close()

    def forget(self) -> None:
        """None of the steps so far was one."""
        self.close()
        self.steps.clear()
        self.stretches.forget()

    def close(self) -> None:
        """Work out what was watched; no step is open."""
        self._spans.settle()
        self.stretches.close()
        is_on, row = self._is_on, self._row
        self._is_on, self._row, self._left = False, [], 0
        if not is_on:
            return
        before_ns = time.perf_counter_ns()
        call_yardstick_unnoticed()
        with _collector_off():
            spans = self._spans.stop()
            if spans is not None:
                self._work_out(row, spans)
        self._spent_ns += time.perf_counter_ns() - before_ns

    def _work_out(self, row: Sequence[StepWatch], spans: Sequence[Span]) -> None:
        """What the program itself took of the steps of a row."""
        borders = [*(place_of(spans, watch.start_ns) for watch in row), len(spans)]
        speeds = [median_gap(spans[max(place - CALLS, 0) : place]) for place in borders]
        for number, watch in enumerate(row):
            inside = spans[borders[number] : place_of(spans, watch.end_ns)]
            speed_ns = max(speeds[number : number + 2])
            allowance_ns = self._call.allowance_ns(speed_ns)
            yardstick_ns = 0 if has_modes() else speed_ns
            if number or not self._has_cold_start:
                self.steps.append(own_step(watch, inside, allowance_ns, yardstick_ns))

    @property
    def is_watching(self) -> bool:
        """A step is being watched."""
        return self._watch is not None

    def _start_row(self, expected_operators: int) -> None:
        self._is_on = self._spans.start()
        if self._is_on:
            steps = ROW_OPERATORS // max(expected_operators, 1)
            self._left = min(max(steps, 1), ROW_STEPS)
            self._has_cold_start = expected_operators <= SMALL_STEP
            missing = FEW_STEPS - len(self.steps)
            if missing > 0:
                self._left = min(self._left, missing + self._has_cold_start)

    def _should_watch(self, expected_operators: int) -> bool:
        seen = len(self.steps)
        if expected_operators > MAX_OPERATORS or seen >= ENOUGH_STEPS:
            return False
        if seen < FEW_STEPS:
            return seen < VERY_FEW_STEPS or self._spent_ns < BUDGET_NS
        return self._spent_ns < BUDGET_NS and seen * SPARSE <= self._begun
