"""Watches stretches of a run that has no steps: what gaps are worth that the recorder cannot measure.

Between two operations of a tight loop the way to the recorder takes longer than the program does. torch's
profiler sees the same gap from C++, without that way, but is too dear to stay on.
"""

from __future__ import annotations

import statistics
import sys
import time
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.profiles.own_time.steps import StepWatch, own_gaps
from syncprobe.recording.own_time.calibration import (
    call_yardstick_unnoticed,
    has_modes,
    median_gap,
)
from syncprobe.recording.own_time.operator_spans import OperatorSpans, in_backward, place_of
from syncprobe.recording.own_time.scheduling import WaitingTime

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.events import EventSum
    from syncprobe.recording.own_time.calibration import CallCost
    from syncprobe.recording.own_time.operator_spans import Span

FIRST: Final = 200
"""So many operations pass before the first stretch: imports, set-up, caches."""
LENGTH: Final = 200
"""Operations of a stretch."""
COLD: Final = 20
"""The first ones of a stretch are left out: starting the profiler has emptied the caches."""
GROWTH: Final = 1.25
"""The next stretch begins when the run is so many times as long: the longer it is, the fewer are needed."""
ENOUGH: Final = 40
BUDGET_NS: Final = 1_000_000_000
"""How many stretches are watched, and what that may cost in all."""
MARGIN: Final = 1.1
"""A stretch has one yardstick, where a step takes the slower of two: so much less is known about its speed."""
FEW: Final = 10
"""Of fewer operations nothing can be said."""


@dataclass(frozen=True, slots=True)
class _Operation:
    """One operation of a stretch, and how long the program had control before it."""

    paused_ns: int
    resumed_ns: int
    gap_ns: int
    event: EventSum | None
    """What it did to the device; None if nothing, as for a view."""
    is_long: bool
    """The recorder has measured the gap before it, or before one since the last event."""


class Stretches:
    """Watches stretches of some hundred operations each, further and further apart.

    Args:
        call: What a bare call of an operator took when it was calibrated.
        spans: Watches operators, for steps as well.
    """

    def __init__(self, call: CallCost, spans: OperatorSpans) -> None:
        self._call = call
        self._spans = spans
        self._waiting = WaitingTime()
        self._waited_ns = 0
        self._operations: list[_Operation] = []
        self._is_on = False
        self._start_ns = self._spent_ns = 0
        self.due = FIRST
        """The operation at which something is to be done: all of them while a stretch is watched."""
        self.handover_ns = 0
        """What the way to the recorder takes, as seen in the last stretch; 0 if there was none."""
        self.watched = 0
        """How many stretches were watched."""
        self.seen: defaultdict[int, list[tuple[float, ...]]] = defaultdict(list)
        """Own nanoseconds of short gaps by the identity of the sum of the events they come before."""
        self._waited_shares: list[float] = []
        self._yardsticks_ns: list[float] = []

    def operation(
        self, number: int, span: Span, gap_ns: int, event: EventSum | None, *, is_long: bool
    ) -> None:
        """An operation is over, which is the one that is due or comes after it.

        Args:
            number: How many there were.
            span: When it took control and when it is about to give it back.
            gap_ns: For how long the program had had control.
            event: What it did to the device.
            is_long: The gap was long enough to be measured.
        """
        if not self._is_on:
            if not in_backward():
                self._start(number)
            return
        self._operations.append(_Operation(*span, gap_ns, event, is_long))
        if len(self._operations) >= LENGTH + COLD and not in_backward():
            self._close(in_operator=True)
            has_enough = self.watched >= ENOUGH or self._spent_ns > BUDGET_NS
            self.due = sys.maxsize if has_enough else int(number * GROWTH)

    def close(self) -> None:
        """Work out the stretch that is being watched, if any; the profiler is off after that."""
        self._close(in_operator=False)

    def _close(self, *, in_operator: bool) -> None:
        self._spans.settle()
        if not self._is_on:
            return
        self._is_on = False
        operations, self._operations = self._operations, []
        before_ns = time.perf_counter_ns()
        spans = self._spans.stop(in_operator=in_operator)
        if spans is not None and len(operations) >= COLD + FEW:
            self._add(spans, operations)
        self._spent_ns += time.perf_counter_ns() - before_ns

    def forget(self) -> None:
        """Stop watching; there are steps, so nobody asks for stretches."""
        if self._is_on:
            self._is_on = False
            self._spans.stop()
        self._operations.clear()
        self.seen.clear()
        self._waited_shares.clear()
        self._yardsticks_ns.clear()
        self.watched = self.handover_ns = 0
        self.due = FIRST

    @property
    def waited_share(self) -> float:
        """How much of a usual stretch other processes kept the program from running."""
        return statistics.median(self._waited_shares or [0.0])

    @property
    def yardstick_ns(self) -> float:
        """What the simplest call took beside a usual stretch; 0 if nobody knows."""
        return statistics.median(self._yardsticks_ns or [0.0])

    def _start(self, number: int) -> None:
        before_ns = time.perf_counter_ns()
        self._is_on = self._spans.start()
        if self._is_on:
            self.due = 0
            call_yardstick_unnoticed()
        else:
            self.due = int(number * GROWTH)
        self._waited_ns = self._waiting.now_ns()
        self._start_ns = time.perf_counter_ns()
        self._spent_ns += self._start_ns - before_ns

    def _add(self, spans: Sequence[Span], operations: Sequence[_Operation]) -> None:
        waited_ns = self._waiting.now_ns() - self._waited_ns
        self._waited_shares.append(waited_ns / (time.perf_counter_ns() - self._start_ns))
        first = place_of(spans, self._start_ns)
        speed_ns = median_gap(spans[:first])
        self._yardsticks_ns.append(0 if has_modes() else speed_ns)
        allowance_ns = int(MARGIN * self._call.allowance_ns(speed_ns))
        watch = StepWatch(
            self._start_ns,
            operations[-1].paused_ns,
            away=[at for each in operations for at in (each.paused_ns, each.resumed_ns)],
        )
        # The last operator is the one that is under way.
        own_ns = _by_operation(own_gaps(watch, spans[first:-1], allowance_ns), operations)
        by_event: defaultdict[int, list[float]] = defaultdict(list)
        for event, gap_ns in _before_events(operations[COLD:], own_ns[COLD:]):
            by_event[id(event)].append(gap_ns)
        for key, values in by_event.items():
            self.seen[key].append(tuple(values))
        self.watched += 1
        ways = [
            each.gap_ns - own
            for each, own in zip(operations[COLD:-1], own_ns[COLD:], strict=False)
            if not each.is_long
        ]
        if len(ways) >= FEW:
            self.handover_ns = int(statistics.median(ways))


def _by_operation(
    gaps: Sequence[tuple[int, float]], operations: Sequence[_Operation]
) -> list[float]:
    """What the program itself took before each operation."""
    ends = [each.resumed_ns for each in operations]
    own_ns = [0.0] * len(operations)
    for start_ns, length_ns in gaps:
        place = bisect_right(ends, start_ns)
        if place < len(own_ns):
            own_ns[place] += length_ns
    return own_ns


def _before_events(
    operations: Sequence[_Operation], own_ns: Sequence[float]
) -> Iterator[tuple[EventSum, float]]:
    """Events after gaps that were short, and those gaps; what did nothing to the device is on the way to the next."""
    gap_ns = 0.0
    for operation, own in zip(operations[:-1], own_ns, strict=False):
        gap_ns += own
        if operation.event is not None:
            if not operation.is_long:
                yield operation.event, gap_ns
            gap_ns = 0.0
