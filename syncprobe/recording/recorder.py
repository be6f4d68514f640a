"""Follows the program's marks, its steps and regions, while events come in."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from syncprobe.recording.callsite import Memo
from syncprobe.recording.sink import NO_STEP, EventSink

if TYPE_CHECKING:
    from collections.abc import Callable

    from syncprobe.clock import Clock
    from syncprobe.cuda.costs import TwoClocks
    from syncprobe.events import Successor
    from syncprobe.recording.callsite import CallSiteFinder
    from syncprobe.recording.own_time.timer import OwnTimer
    from syncprobe.recording.processes.spawned import Nursery

TAIL: Final = 1.5
"""A last step that was never ended and is so much larger than any other holds what came after it."""


class Recorder(EventSink):
    """The sink of a recording: finds who caused each event and adds it to a sum.

    Args:
        finder: Maps frames to lines of user code.
        clock: Measures host time between events.
        clocks: The cost model, or None where no time is modelled (a real device, the CPU).
        max_events: How many single events to keep beside the sums; None keeps all.
        warmup: Marked steps to let pass before recording starts.
        max_steps: Marked steps to record before recording stops; None records all.
        on_step: Told how many steps, warm-up included, have begun before each one.
        own_timer: Watches the program's own time in some of the steps.
        handover_ns: Host time per operation that is not the program's, to be taken off.
        nursery: Records the processes that the program spawns.
    """

    __slots__ = (
        "_last_step",
        "_most_operations",
        "_nursery",
        "_on_step",
        "_steps_started",
        "_warmup",
    )

    def __init__(
        self,
        finder: CallSiteFinder,
        clock: Clock,
        clocks: TwoClocks | None = None,
        *,
        max_events: int | None = 10_000,
        warmup: int = 0,
        max_steps: int | None = None,
        on_step: Callable[[int], None] | None = None,
        own_timer: OwnTimer | None = None,
        handover_ns: int = 0,
        nursery: Nursery | None = None,
    ) -> None:
        super().__init__(
            finder,
            clock,
            clocks,
            max_events=max_events,
            own_timer=own_timer,
            handover_ns=handover_ns,
        )
        self._warmup = warmup
        self._last_step = sys.maxsize if max_steps is None else warmup + max_steps
        self._on_step = on_step
        self._nursery = nursery
        self._most_operations = 0
        self._steps_started = 0
        self.is_on = warmup == 0
        if own_timer is not None and self.is_on:
            self._stretch_due = own_timer.stretches.due

    def successor(self) -> Successor | None:
        """Who hears of what a process does that is about to be spawned."""
        return None if self._nursery is None else self._nursery.another()

    # What the program's marks call.

    def begin_step(self) -> None:
        """Close the step that is open, if any, and open the next one."""
        self.end_step()
        if self._on_step is not None:
            self._on_step(self._steps_started)
        if not self._steps_started:
            self._forget_run()
        self.is_on = self._warmup <= self._steps_started < self._last_step
        if self.is_on:
            self.step = self._steps_started - self._warmup
            self.steps_recorded += 1
            self._tally.begin_step()
            if self._camera is not None:
                self._camera.begin(self.step, self._local.thread.regions[-1])
            self._outside.begin_step(self._now_ns())
            self._watch_step()
        self._steps_started += 1
        self.resume()

    def end_step(self) -> None:
        """Close the open step; what follows belongs to no step."""
        if self._steps_started:
            self._most_operations = max(self._most_operations, self._operations)
        self._operations = 0
        if self.step == NO_STEP:
            return
        ended_ns = self._now_ns()
        self._count_host_time()
        if self._decision_read is not None:
            self._decision_read.needed += 1
            self._decision_read = None
        self.step = NO_STEP
        self._tally.end_step()
        if self._camera is not None:
            self._camera.end()
        if self._steps_started >= self._last_step:
            self.is_on = False
        if self._watched is not None:
            watched, self._watched = self._watched, None
            watched.end(ended_ns)
        self._outside.end_step(self._now_ns())
        self.resume()

    def drop_step(self) -> None:
        """The open step is none: what it did stays in the run, but in no step."""
        if self.step == NO_STEP:
            self._steps_started -= 1
            return
        self.step = NO_STEP
        self.steps_recorded -= 1
        self._steps_started -= 1
        self._decision_read = None
        self._tally.drop_step()
        self._outside.drop_step()
        if self._camera is not None:
            self._camera.drop()
        if self._watched is not None:
            self._watched.drop()
            self._watched = None
        self._operations = 0
        self.resume()

    def forget_steps(self) -> None:
        """All steps so far were none."""
        self.end_step()
        self._steps_started = self.steps_recorded = 0
        self.is_on = self._warmup == 0
        self._tally.forget_steps(self.sums)
        self._outside.forget_steps()
        if self._camera is not None:
            self._camera.forget()
        if self._own_timer is not None:
            self._own_timer.forget()
            self._stretch_due = self._own_timer.stretches.due if self.is_on else sys.maxsize

    @property
    def steps_started(self) -> int:
        """How many steps the program made, warm-up included."""
        return self._steps_started

    @property
    def has_enough(self) -> bool:
        """All steps to record are recorded."""
        return self.step == NO_STEP and self._steps_started >= self._last_step

    def enter_region(self, name: str) -> None:
        """Charge what this thread does to a region, until it leaves it."""
        self._count_host_time()
        self._local.thread.regions.append(name)
        self._cross(name)

    def leave_region(self) -> None:
        """Go back to the region that was open before."""
        self._count_host_time()
        regions = self._local.thread.regions
        regions.pop()
        self._cross(regions[-1])

    def close(self) -> None:
        """The recording is over: let go of the program's frames."""
        if self._watched is not None:
            # Whoever ends a step only by ending the program has done more than the step since.
            self._watched.drop()
            self._watched = None
        if self.steps_recorded > 1 and self._operations > TAIL * self._most_operations > 0:
            self.drop_step()
        self.end_step()
        self._outside.close(self._now_ns())
        if self._own_timer is not None:
            self._own_timer.close()
        if self._camera is not None:
            self._camera.end()
        for thread in self._threads:
            thread.memo = Memo()

    def _cross(self, region: str) -> None:
        """This thread goes on in a region."""
        if self._camera is not None:
            self._camera.cross(region)
        if self._watched is not None and self._local.thread is self._main:
            self._watched.cross(region, self._paused_ns)
        thread = self._local.thread
        thread.is_paused, thread.origin = False, None
        self._resumed_ns = self._now_ns()

    def _forget_run(self) -> None:
        """There are steps: the run as a whole is of no interest."""
        if self._camera is not None:
            self._camera.forget()
        if self._own_timer is not None:
            self._own_timer.stretches.forget()
            self._stretch_due = sys.maxsize

    def _watch_step(self) -> None:
        """Watch the step that begins; the first of all is left out, because nobody knows its size."""
        if self._own_timer is not None and self._steps_started:
            self._own_timer.begin(self._main.regions[-1], self._most_operations)
            if self._own_timer.is_watching:
                self._watched = self._own_timer

    def _count_host_time(self) -> None:
        """A mark, not an operation: all the time until now was the program's."""
        self._paused_ns = self._now_ns()
        if self.is_on:
            self._add_host_time(self._local.thread, self._paused_ns - self._resumed_ns)
