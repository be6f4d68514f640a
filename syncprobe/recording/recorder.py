"""Takes events as they come and keeps their sums, so that memory does not grow with the run."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from syncprobe.events import DEFAULT_REGION, Event, EventKind, EventSum, RegionTime
from syncprobe.recording.callsite import UNKNOWN_ORIGIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from syncprobe.clock import Clock
    from syncprobe.events import Origin
    from syncprobe.recording.callsite import CallSiteFinder
    from syncprobe.simgpu.costs import TwoClocks

OUTSIDE: Final = -1
"""The step of what happens before, between and after the marked steps."""
_DECISION_REGIONS: Final = frozenset({"act", "env"})
_READS: Final = frozenset({EventKind.SCALAR_READ, EventKind.COPY_TO_HOST})


class _ThreadState(threading.local):
    """What a thread is doing."""

    def __init__(self) -> None:
        self.name = threading.current_thread().name
        self.regions: list[str] = [DEFAULT_REGION]
        self.is_paused = False
        """An operation is under way: the program does not have control."""
        self.origin: Origin | None = None
        """Who asked for that operation, once it is known; an operation can cause several events."""


class Recorder:
    """The sink of a recording: finds who caused each event and adds it to a sum.

    Args:
        finder: Maps frames to lines of user code.
        clock: Measures host time between events.
        clocks: The cost model, or None where no time is modelled (a real device, the CPU).
        max_events: How many single events to keep beside the sums; None keeps all.
        warmup: Marked steps to let pass before recording starts.
        max_steps: Marked steps to record before recording stops; None records all.
        on_step: Told how many steps, warm-up included, have begun before each one.
    """

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
    ) -> None:
        self._finder = finder
        self._now_ns = clock.now_ns
        self._clocks = clocks
        self._max_events = sys.maxsize if max_events is None else max_events
        self._warmup = warmup
        self._last_step = sys.maxsize if max_steps is None else warmup + max_steps
        self._on_step = on_step
        self._lock = threading.Lock()
        self._thread = _ThreadState()
        self._sums: dict[tuple[object, ...], EventSum] = {}
        self._kept: list[tuple[EventSum, int, int, str]] = []
        self._charged: list[tuple[Origin, str]] = []
        self._resumed_ns = self._now_ns()
        self._steps_started = 0
        self._decision_read: EventSum | None = None
        self.is_on = warmup == 0
        """Events are being counted."""
        self.process = os.getpid()
        self.step = OUTSIDE
        """Number of the step that is open, counting from 0 after warm-up."""
        self.steps_recorded = 0
        self.events_dropped = 0
        self.region_times: dict[str, RegionTime] = {}
        self.unknown_operations: set[str] = set()
        self.device_busy_ns = 0.0

    # What the device calls.

    def pause(self) -> None:
        """Count the host time since the program got control; the next event has a new origin."""
        if self.is_on:
            self._add_host_time(self._now_ns() - self._resumed_ns)
            self._thread.is_paused = True

    def resume(self) -> None:
        """Start counting host time again."""
        thread = self._thread
        thread.is_paused, thread.origin = False, None
        self._resumed_ns = self._now_ns()

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
        thread = self._thread
        origin, region = thread.origin, thread.regions[-1]
        if origin is None:
            origin, region = self._whose(thread, sys._getframe(1))
        # By identity: hashing an enum member or an origin calls into Python.
        key = (id(kind), operation, is_blocking, id(origin), region)
        with self._lock:
            event_sum = self._sums.get(key)
            if event_sum is None:
                event_sum = EventSum(kind, operation, origin, region, is_blocking)
                self._sums[key] = event_sum
            event_sum.count += 1
            event_sum.nbytes += nbytes
            if self.step != OUTSIDE:
                event_sum.in_steps += 1
                event_sum.nbytes_in_steps += nbytes
            if is_blocking and kind in _READS and region in _DECISION_REGIONS:
                self._decision_read = event_sum
            if self._clocks is not None:
                self._model(event_sum, nbytes, flops)
            if len(self._kept) < self._max_events:
                self._kept.append((event_sum, self.step, nbytes, thread.name))
            else:
                self.events_dropped += 1

    @contextmanager
    def charged_to_caller(self) -> Iterator[None]:
        """While open, work on threads without user code is charged to the line that opened it."""
        origin = self._finder.find(sys._getframe(2)) or UNKNOWN_ORIGIN
        self._charged.append((origin, self._thread.regions[-1]))
        try:
            yield
        finally:
            self._charged.pop()

    def unknown_operation(self, operation: str) -> None:
        """Remember an operator that the rules do not know."""
        if self.is_on:
            self.unknown_operations.add(operation)

    # What the program's marks call.

    def begin_step(self) -> None:
        """Close the step that is open, if any, and open the next one."""
        self.end_step()
        if self._on_step is not None:
            self._on_step(self._steps_started)
        if not self._steps_started:
            self._forget_times()
        self.is_on = self._warmup <= self._steps_started < self._last_step
        if self.is_on:
            self.step = self._steps_started - self._warmup
            self.steps_recorded += 1
        self._steps_started += 1
        self.resume()

    def end_step(self) -> None:
        """Close the open step; what follows belongs to no step."""
        if self.step == OUTSIDE:
            return
        self.pause()
        with self._lock:
            if self._decision_read is not None:
                self._decision_read.needed += 1
                self._decision_read = None
        self.step = OUTSIDE
        if self._steps_started >= self._last_step:
            self.is_on = False
        self.resume()

    def enter_region(self, name: str) -> None:
        """Charge what this thread does to a region, until it leaves it."""
        self.pause()
        self._thread.regions.append(name)
        self.resume()

    def leave_region(self) -> None:
        """Go back to the region that was open before."""
        self.pause()
        self._thread.regions.pop()
        self.resume()

    # What analysis reads.

    @property
    def sums(self) -> tuple[EventSum, ...]:
        """The sums, in the order their first event came."""
        return tuple(self._sums.values())

    @property
    def counts(self) -> Counter[str]:
        """Events by kind."""
        totals: Counter[str] = Counter({str(kind): 0 for kind in EventKind})
        for event_sum in self._sums.values():
            totals[event_sum.kind] += event_sum.count
        return totals

    @property
    def events(self) -> tuple[Event, ...]:
        """The single events that were kept, in order."""
        return tuple(
            Event(
                kind=event_sum.kind,
                operation=event_sum.operation,
                is_blocking=event_sum.is_blocking,
                site=event_sum.origin.site,
                stack=event_sum.origin.stack[1:],
                region=event_sum.region,
                step=step,
                nbytes=nbytes,
                thread=thread,
            )
            for event_sum, step, nbytes, thread in self._kept
        )

    def _whose(self, thread: _ThreadState, frame: FrameType) -> tuple[Origin, str]:
        """Origin and region of what a frame is doing."""
        region = thread.regions[-1]
        origin = self._finder.find(frame)
        if origin is None:
            return self._charged[-1] if self._charged else (UNKNOWN_ORIGIN, region)
        if thread.is_paused:
            thread.origin = origin
        return origin, region

    def _model(self, event_sum: EventSum, nbytes: int, flops: int) -> None:
        """Advance the modelled clocks by one event; only steps are charged, once there are any."""
        clocks = self._clocks
        assert clocks is not None, "asked for only where there is a model"
        busy_before = clocks.busy_ns
        host_ns, stall_ns = clocks.event(
            event_sum.kind, is_blocking=event_sum.is_blocking, nbytes=nbytes, flops=flops
        )
        if self.step != OUTSIDE or not self._steps_started:
            event_sum.host_ns += host_ns
            event_sum.stall_ns += stall_ns
            self.device_busy_ns += clocks.busy_ns - busy_before
            if host_ns:
                self._region_time(event_sum.region).modelled_ns += host_ns

    def _add_host_time(self, elapsed_ns: int) -> None:
        if self._clocks is None:
            return
        self._clocks.host(elapsed_ns)
        if self.step != OUTSIDE or not self._steps_started:
            time = self._region_time(self._thread.regions[-1])
            time.host_ns += elapsed_ns
            time.modelled_ns += elapsed_ns

    def _forget_times(self) -> None:
        """Until a step is marked the whole recording counts as one; from now on only steps do."""
        for event_sum in self._sums.values():
            event_sum.host_ns = event_sum.stall_ns = 0.0
        self.region_times.clear()
        self.device_busy_ns = 0.0

    def _region_time(self, region: str) -> RegionTime:
        time = self.region_times.get(region)
        if time is None:
            time = self.region_times[region] = RegionTime()
        return time
