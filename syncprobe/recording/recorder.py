"""Takes events as they come and keeps their sums, so that memory does not grow with the run."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from syncprobe.events import DEFAULT_REGION, Event, EventKind, EventSum, RegionTime
from syncprobe.recording.callsite import UNKNOWN_ORIGIN, Memo
from syncprobe.recording.film import Camera

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from syncprobe.clock import Clock
    from syncprobe.events import Origin, StepFilm
    from syncprobe.recording.callsite import CallSiteFinder
    from syncprobe.simgpu.costs import TwoClocks

OUTSIDE: Final = -1
"""The step of what happens before, between and after the marked steps."""
_DECISION_REGIONS: Final = frozenset({"act", "env"})
_LAUNCH: Final = EventKind.LAUNCH
_DEVICE_FRAMES: Final = 3
"""The innermost frames of a launch are the simulated device's own; none of them can be the user's."""
_READS: Final = frozenset({EventKind.SCALAR_READ, EventKind.COPY_TO_HOST})


class _Thread:
    """What one thread is doing and has done; nobody else writes here, so nobody has to wait."""

    __slots__ = ("is_paused", "launches", "memo", "name", "origin", "regions", "sums")

    def __init__(self) -> None:
        self.name = threading.current_thread().name
        self.regions = [DEFAULT_REGION]
        self.is_paused = False
        """An operation is under way: the program does not have control."""
        self.origin: Origin | None = None
        """Who asked for that operation, once it is known; an operation can cause several events."""
        self.memo = Memo()
        self.sums: dict[tuple[object, ...], EventSum] = {}
        self.launches: dict[tuple[str, int, str], tuple[EventSum, EventSum]] = {}
        """The sums of allocations and launches that belong together, also found in ``sums``."""


class _Local(threading.local):
    """Leads every thread to its own state, which stays known when the thread is gone."""

    def __init__(self, everyone: list[_Thread]) -> None:
        self.thread = _Thread()
        everyone.append(self.thread)


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
        handover_ns: Host time per operation that is not the program's, to be taken off.
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
        handover_ns: int = 0,
    ) -> None:
        self._finder = finder
        self._now_ns = clock.now_ns
        self._clocks = clocks
        self._camera = None if clocks is None else Camera(clocks)
        self._max_events = sys.maxsize if max_events is None else max_events
        self._warmup = warmup
        self._last_step = sys.maxsize if max_steps is None else warmup + max_steps
        self._on_step = on_step
        self._handover_ns = handover_ns
        self._threads: list[_Thread] = []
        self._local = _Local(self._threads)
        self._kept: list[tuple[EventSum, int, int, str]] = []
        self._charged: list[tuple[Origin, str]] = []
        self._resumed_ns = self._now_ns()
        self._steps_started = 0
        self._decision_read: EventSum | None = None
        self.is_on = warmup == 0
        """Events are being counted."""
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
            thread = self._local.thread
            thread.is_paused = True
            elapsed_ns = self._now_ns() - self._resumed_ns - self._handover_ns
            if elapsed_ns > 0:
                self._add_host_time(thread, elapsed_ns)

    def resume(self) -> None:
        """Start counting host time again."""
        thread = self._local.thread
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
        if is_blocking and kind in _READS and region in _DECISION_REGIONS:
            self._decision_read = event_sum
        event_sum.count += 1
        event_sum.nbytes += nbytes
        if self.step != OUTSIDE:
            event_sum.in_steps += 1
            event_sum.nbytes_in_steps += nbytes
        if self._clocks is not None:
            self._charge(event_sum, nbytes, self._clocks.event(kind, is_blocking, nbytes, flops))
        if len(self._kept) < self._max_events:
            self._kept.append((event_sum, self.step, nbytes, thread.name))
        else:
            self.events_dropped += 1

    def emit_launch(self, operation: str, allocated: int, nbytes: int, flops: int) -> None:
        """Add an allocation and a launch to their sums, which are looked up together.

        Nearly all events come this way, so it is written for speed: what `emit` does in steps is done
        here in one go.
        """
        if not self.is_on:
            return
        thread = self._local.thread
        origin, region = thread.origin, thread.regions[-1]
        if origin is None:
            origin, region = self._whose(thread, sys._getframe(_DEVICE_FRAMES))
        pair = thread.launches.get((operation, id(origin), region))
        if pair is None:
            pair = self._new_pair(thread, operation, origin, region)
        allocation, launch = pair
        allocation.count += 1
        allocation.nbytes += allocated
        launch.count += 1
        launch.nbytes += nbytes
        step = self.step
        if step != OUTSIDE:
            allocation.in_steps += 1
            allocation.nbytes_in_steps += allocated
            launch.in_steps += 1
            launch.nbytes_in_steps += nbytes
        if self._clocks is not None:
            self._charge(launch, nbytes, self._clocks.launch(nbytes, flops))
        if len(self._kept) < self._max_events:
            self._kept.append((allocation, step, allocated, thread.name))
            self._kept.append((launch, step, nbytes, thread.name))
        else:
            self.events_dropped += 2

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
            if self._camera is not None:
                self._camera.begin(self.step, self._local.thread.regions[-1])
        self._steps_started += 1
        self.resume()

    def end_step(self) -> None:
        """Close the open step; what follows belongs to no step."""
        if self.step == OUTSIDE:
            return
        self._count_host_time()
        if self._decision_read is not None:
            self._decision_read.needed += 1
            self._decision_read = None
        self.step = OUTSIDE
        if self._camera is not None:
            self._camera.end()
        if self._steps_started >= self._last_step:
            self.is_on = False
        self.resume()

    def enter_region(self, name: str) -> None:
        """Charge what this thread does to a region, until it leaves it."""
        self._count_host_time()
        self._local.thread.regions.append(name)
        self._cross(name)
        self.resume()

    def leave_region(self) -> None:
        """Go back to the region that was open before."""
        self._count_host_time()
        regions = self._local.thread.regions
        regions.pop()
        self._cross(regions[-1])
        self.resume()

    def close(self) -> None:
        """The recording is over: let go of the program's frames."""
        self.end_step()
        if self._camera is not None:
            self._camera.end()
        for thread in self._threads:
            thread.memo = Memo()

    # What analysis reads.

    @property
    def sums(self) -> tuple[EventSum, ...]:
        """The sums of all threads, thread by thread in the order their first event came."""
        return tuple(event_sum for thread in self._threads for event_sum in thread.sums.values())

    @property
    def counts(self) -> Counter[str]:
        """Events by kind."""
        totals: Counter[str] = Counter({str(kind): 0 for kind in EventKind})
        for event_sum in self.sums:
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

    @property
    def film(self) -> StepFilm | None:
        """The step with most events, event by event; None where no time is modelled."""
        return None if self._camera is None else self._camera.film

    def _whose(self, thread: _Thread, frame: FrameType) -> tuple[Origin, str]:
        """Origin and region of what a frame is doing."""
        region = thread.regions[-1]
        origin = self._finder.find(frame, thread.memo)
        if origin is None:
            return self._charged[-1] if self._charged else (UNKNOWN_ORIGIN, region)
        if thread.is_paused:
            thread.origin = origin
        return origin, region

    def _new_pair(
        self, thread: _Thread, operation: str, origin: Origin, region: str
    ) -> tuple[EventSum, EventSum]:
        """The sums of an operation's allocations and launches, the same that `emit` would use."""
        pair = []
        for kind in (EventKind.ALLOCATION, _LAUNCH):
            key = (id(kind), operation, False, id(origin), region)
            new = EventSum(kind, operation, origin, region, is_blocking=False)
            pair.append(thread.sums.setdefault(key, new))
        made = (pair[0], pair[1])
        thread.launches[operation, id(origin), region] = made
        return made

    def _charge(self, event_sum: EventSum, nbytes: int, cost: tuple[float, float, float]) -> None:
        """Charge modelled time to a line and a region; only steps are charged, once there are any."""
        if self.step != OUTSIDE or not self._steps_started:
            host_ns, stall_ns, busy_ns = cost
            event_sum.host_ns += host_ns
            event_sum.stall_ns += stall_ns
            self.device_busy_ns += busy_ns
            self._region_time(event_sum.region).modelled_ns += host_ns
            if self._camera is not None:
                self._camera.take(event_sum, nbytes, cost)

    def _cross(self, region: str) -> None:
        if self._camera is not None:
            self._camera.cross(region)

    def _count_host_time(self) -> None:
        """A mark, not an operation: all the time until now was the program's."""
        if self.is_on:
            self._add_host_time(self._local.thread, self._now_ns() - self._resumed_ns)

    def _add_host_time(self, thread: _Thread, elapsed_ns: int) -> None:
        if self._clocks is None:
            return
        self._clocks.host(elapsed_ns)
        if self.step != OUTSIDE or not self._steps_started:
            time = self._region_time(thread.regions[-1])
            time.host_ns += elapsed_ns
            time.modelled_ns += elapsed_ns

    def _forget_times(self) -> None:
        """Until a step is marked the whole recording counts as one; from now on only steps do."""
        for event_sum in self.sums:
            event_sum.host_ns = event_sum.stall_ns = 0.0
        self.region_times.clear()
        self.device_busy_ns = 0.0
        if self._camera is not None:
            self._camera.forget()

    def _region_time(self, region: str) -> RegionTime:
        time = self.region_times.get(region)
        if time is None:
            time = self.region_times[region] = RegionTime()
        return time
