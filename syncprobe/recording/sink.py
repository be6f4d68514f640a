"""Takes events as they come and keeps their sums, so that memory does not grow with the run."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from syncprobe.events import TO_HOST, EventKind, EventSum
from syncprobe.recording.callsite import UNKNOWN_ORIGIN
from syncprobe.recording.kept.record import KEPT_VALUES, Record
from syncprobe.recording.own_time.scheduling import NOTHING_NS, WaitingSince

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from syncprobe.clock import Clock
    from syncprobe.cuda.costs import TwoClocks
    from syncprobe.events import Origin
    from syncprobe.recording.callsite import CallSiteFinder
    from syncprobe.recording.kept.threads import ThreadState
    from syncprobe.recording.own_time.timer import OwnTimer

NO_STEP: Final = -1
"""The step of what happens before, between and after the marked steps."""
_DECISION_REGIONS: Final = frozenset({"act", "env"})
_ALLOCATION: Final = EventKind.ALLOCATION
"""Looking a member up in its class takes longer than most of what is done with it here."""
_DEVICE_FRAMES: Final = 2
"""The innermost frames of a launch are the simulated device's own; none of them can be the user's."""
LONG_NS: Final = 100_000
"""In so long a stretch another process may have had its turn."""
COLD_NS: Final = 150_000
"""What it costs to fill the caches again after another process had its turn."""
SHORT: Final = 3
"""A stretch that is longer than its handover by less than so many handovers may be nothing but a slow one."""


class EventSink(Record):
    """What devices report to: finds who caused each event and adds it to a sum; see `Recorder`."""

    __slots__ = (
        "_charged",
        "_clocks",
        "_decision_read",
        "_find",
        "_finder",
        "_has_room",
        "_main",
        "_max_kept",
        "_now_ns",
        "_operations",
        "_paused_ns",
        "_resumed_ns",
        "_stretch_due",
        "_waiting",
        "_watched",
        "is_on",
        "step",
    )

    def __init__(
        self,
        finder: CallSiteFinder,
        clock: Clock,
        clocks: TwoClocks | None,
        *,
        max_events: int | None,
        own_timer: OwnTimer | None,
        handover_ns: int,
    ) -> None:
        self._now_ns = clock.now_ns
        self._paused_ns = self._resumed_ns = self._now_ns()
        super().__init__(self._resumed_ns, clocks, own_timer, handover_ns)
        self._finder = finder
        self._find = finder.find
        self._clocks = clocks
        self._max_kept = KEPT_VALUES * (sys.maxsize if max_events is None else max_events)
        self._has_room = True
        self._watched: OwnTimer | None = None
        self._waiting = WaitingSince() if own_timer is not None else None
        self._stretch_due = sys.maxsize
        self._main = self._local.thread
        self._charged: list[tuple[Origin, str]] = []
        self._operations = 0
        self._decision_read: EventSum | None = None
        self.is_on = True
        """Events are being counted."""
        self.step = NO_STEP
        """Number of the step that is open, counting from 0 after warm-up."""

    def pause(self) -> None:
        """Count the host time since the program got control; the next event has a new origin."""
        self._operations += 1
        if not self.is_on:
            return
        thread = self._local.thread
        thread.is_paused = True
        now_ns = self._paused_ns = self._now_ns()
        if self._watched is not None and thread is self._main:
            self._watched.pause(now_ns)
        handover_ns, tally = self._handover_ns, self._tally
        tally.operations += 1
        tally.open.handover_ns += handover_ns
        elapsed_ns = now_ns - self._resumed_ns - handover_ns
        if elapsed_ns <= 0:
            return
        if elapsed_ns > LONG_NS and self._waiting is not None and thread is self._main:
            waited_ns = self._waiting.since_ns()
            elapsed_ns -= waited_ns + (COLD_NS if waited_ns > NOTHING_NS else 0)
        if elapsed_ns > SHORT * handover_ns:
            tally.long_ns += elapsed_ns
            self._add_host_time(thread, elapsed_ns)
        elif elapsed_ns > 0:
            # Hardly more than the handover, which may be what was slower than usual.
            tally.short_ns += elapsed_ns

    def resume(self) -> None:
        """Start counting host time again."""
        tally, thread = self._tally, self._local.thread
        event, is_long = tally.event, tally.long_ns > 0
        if event is not None:
            if tally.is_new:
                tally.end_first()
            elif is_long:
                tally.note_long(event)
            tally.event = None
            tally.long_ns = 0
            if tally.gaps:
                tally.gaps.clear()
        # Without an event it was a view, or a mark: whether it is new can be told by what follows.
        thread.is_paused = False
        thread.origin = None
        now_ns = self._now_ns()
        if self.step == NO_STEP and self._waiting is not None:
            now_ns = self._resume_outside(thread, event, now_ns, is_long=is_long)
        self._resumed_ns = now_ns
        if self._watched is not None and thread is self._main:
            self._watched.resume(self._paused_ns, now_ns)

    def _resume_outside(
        self, thread: ThreadState, event: EventSum | None, now_ns: int, *, is_long: bool
    ) -> int:
        """What is to be done after an operation in no step; says what time it is then."""
        waiting = self._waiting
        assert waiting is not None, "asked only where it is"
        if event is not None:
            self._tally.outside_steps += 1
        if thread is not self._main:
            return now_ns
        if self._operations >= self._stretch_due:
            self._go_on_watching((self._paused_ns, now_ns), event, is_long=is_long)
            now_ns = self._now_ns()
        if now_ns - waiting.restarted_ns > LONG_NS or now_ns - self._paused_ns > LONG_NS:
            waiting.restart()
            now_ns = self._now_ns()
        return now_ns

    def emit(
        self,
        kind: EventKind,
        operation: str,
        *,
        is_blocking: bool = False,
        nbytes: int = 0,
        flops: int = 0,
    ) -> None:
        """Add one event to the sum it belongs to."""
        if not self.is_on:
            return
        thread = self._local.thread
        origin, region = thread.origin, thread.regions[-1]
        if origin is None:
            origin, region = self._whose(thread, sys._getframe(1))
        # By identity: hashing an enum member or an origin calls into Python.
        key = (id(kind), operation, is_blocking, id(origin), region)
        event_sum = thread.sums.get(key)
        if event_sum is None:
            event_sum = EventSum(kind, operation, origin, region, is_blocking)
            thread.sums[key] = event_sum
            self._tally.is_new = True
        if is_blocking and kind in TO_HOST and region in _DECISION_REGIONS:
            self._decision_read = event_sum
        event_sum.count += 1
        event_sum.nbytes += nbytes
        if self.step != NO_STEP:
            self._tally.touch(event_sum)
            event_sum.in_steps += 1
            event_sum.nbytes_in_steps += nbytes
        if self._clocks is not None:
            self._charge(event_sum, nbytes, self._clocks.event(kind, is_blocking, nbytes, flops))
        if self._has_room:
            self._keep(event_sum, nbytes, thread)

    def emit_launch(  # noqa: C901, PLR0912, PLR0915  # calls would be half of the cost
        self, operation: str, allocated: int, nbytes: int, flops: int, resumes: bool
    ) -> None:
        """Add an allocation and a launch to their sums, which are looked up together.

        Nearly all events come this way, so it is written for speed: what `emit` and `resume` do in steps is
        done here in one go.
        """
        thread = self._local.thread
        if not self.is_on:
            if resumes:
                self.resume()
            return
        origin, region = thread.origin, thread.regions[-1]
        if origin is None:
            frame, memo = sys._getframe(_DEVICE_FRAMES), thread.memo
            # Most lines call more than one operation, and many call them with nothing between.
            if frame is memo.frame:
                origin = memo.origins.get((frame.f_lasti, 0))
            if origin is None:
                origin = self._find(frame, memo)
            if origin is None:
                origin, region = self._nobodys(region)
            elif not resumes and thread.is_paused:
                thread.origin = origin
        pair = thread.launches.get((operation, id(origin), region))
        if pair is None:
            pair = thread.new_pair(operation, origin, region)
            self._tally.is_new = True
        allocation, launch = pair
        allocation.count += 1
        allocation.nbytes += allocated
        launch.count += 1
        launch.nbytes += nbytes
        tally, step, clocks = self._tally, self.step, self._clocks
        if step != NO_STEP:
            begun = tally.steps_begun
            if launch.touched_in != begun:
                tally.touch(launch)
            if allocation.touched_in != begun:
                tally.touch(allocation)
            allocation.in_steps += 1
            allocation.nbytes_in_steps += allocated
            launch.in_steps += 1
            launch.nbytes_in_steps += nbytes
        if clocks is not None:
            host_ns, _, busy_ns = cost = clocks.launch(nbytes, flops)
            launch.run_host_ns += host_ns
            if step != NO_STEP:
                launch.host_ns += host_ns
            times = tally.open
            times.busy_ns += busy_ns
            times.regions[region].modelled_ns += host_ns
            tally.event = launch
            camera = self._camera
            if camera is not None and camera.running is not None:
                camera.take(launch, nbytes, cost)
        if self._has_room:
            self._keep(allocation, allocated, thread)
            self._keep(launch, nbytes, thread)
        if not resumes:
            return
        if self._watched is not None or tally.gaps or tally.is_new:
            self.resume()
            return
        now_ns = self._now_ns()
        if step == NO_STEP and self._waiting is not None:
            now_ns = self._resume_outside(thread, tally.event, now_ns, is_long=False)
        tally.event = None
        thread.is_paused = False
        thread.origin = None
        self._resumed_ns = now_ns

    def _keep(self, event_sum: EventSum, nbytes: int, thread: ThreadState) -> None:
        """Keep a single event, if it is one of the first."""
        self._has_room = len(self._kept) < self._max_kept
        if self._has_room:
            self._kept += (event_sum, self.step, nbytes, thread.name)

    @contextmanager
    def charged_to_caller(self) -> Iterator[None]:
        """While open, work on threads without user code is charged to the line that opened it."""
        origin = self._finder.find(sys._getframe(2)) or UNKNOWN_ORIGIN
        self._charged.append((origin, self._local.thread.regions[-1]))
        try:
            yield
        finally:
            self._charged.pop()

    def unknown_operation(self, operation: str) -> None:
        """Remember an operator that the rules do not know."""
        if self.is_on:
            self.unknown_operations.add(operation)

    def note(self, text: str) -> None:
        """Keep what the reader of the profile must know, in the order it was first said."""
        self.notes.setdefault(text)

    def _whose(self, thread: ThreadState, frame: FrameType) -> tuple[Origin, str]:
        """Origin and region of what a frame is doing."""
        region = thread.regions[-1]
        origin = self._finder.find(frame, thread.memo)
        if origin is None:
            return self._nobodys(region)
        if thread.is_paused:
            thread.origin = origin
        return origin, region

    def _nobodys(self, region: str) -> tuple[Origin, str]:
        """Origin and region of what no frame of the user's has asked for."""
        return self._charged[-1] if self._charged else (UNKNOWN_ORIGIN, region)

    def _charge(self, event_sum: EventSum, nbytes: int, cost: tuple[float, float, float]) -> None:
        """Charge modelled time to a line and a region."""
        self._tally.charge(event_sum, cost, is_step=self.step != NO_STEP)
        if self._camera is not None and event_sum.kind is not _ALLOCATION:
            self._camera.take(event_sum, nbytes, cost)

    def _go_on_watching(
        self, span: tuple[int, int], event: EventSum | None, *, is_long: bool
    ) -> None:
        """An operation in no step is over: begin to watch a stretch, add to it, or end it."""
        assert self._own_timer is not None, "nothing is due without it"
        stretches = self._own_timer.stretches
        gap_ns = self._paused_ns - self._resumed_ns
        stretches.operation(self._operations, span, gap_ns, event, is_long=is_long)
        self._stretch_due = stretches.due
        self._handover_ns = stretches.handover_ns or self._handover_ns

    def _add_host_time(self, thread: ThreadState, elapsed_ns: int) -> None:
        if self._clocks is None:
            return
        self._clocks.host(elapsed_ns)
        self._tally.add_host_time(thread.regions[-1], elapsed_ns)
