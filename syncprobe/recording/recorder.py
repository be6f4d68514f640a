"""Takes events as they come and keeps their sums, so that memory does not grow with the run."""

from __future__ import annotations

import sys
import threading
from collections import Counter, defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from syncprobe.events import DEFAULT_REGION, TO_HOST, Event, EventKind, EventSum, RegionTime
from syncprobe.recording.callsite import UNKNOWN_ORIGIN, Memo
from syncprobe.recording.film import Camera
from syncprobe.recording.outside import OutsideClock
from syncprobe.recording.own_time.scheduling import NOTHING_NS, IdleTime
from syncprobe.recording.processes.record import beside, leader
from syncprobe.recording.tally import Tally, Times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    from syncprobe.clock import Clock
    from syncprobe.cuda.costs import TwoClocks
    from syncprobe.events import Origin, StepFilm, Successor
    from syncprobe.profiles.host import Outside
    from syncprobe.profiles.own_time.runs import RunGaps
    from syncprobe.profiles.own_time.steps import OwnStep
    from syncprobe.recording.callsite import CallSiteFinder
    from syncprobe.recording.own_time.timer import OwnTimer
    from syncprobe.recording.processes.record import ProcessRecord
    from syncprobe.recording.processes.spawned import Nursery

NO_STEP: Final = -1
"""The step of what happens before, between and after the marked steps."""
_DECISION_REGIONS: Final = frozenset({"act", "env"})
_LAUNCH: Final = EventKind.LAUNCH
_DEVICE_FRAMES: Final = 2
"""The innermost frames of a launch are the simulated device's own; none of them can be the user's."""
LONG_NS: Final = 100_000
"""In so long a stretch another process may have had its turn."""
COLD_NS: Final = 150_000
"""What it costs to fill the caches again after another process had its turn."""
SHORT: Final = 3
"""A stretch that is longer than its handover by less than so many handovers may be nothing but a slow one."""
TAIL: Final = 1.5
"""A last step that was never ended and is so much larger than any other holds what came after it."""


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
        own_timer: Watches the program's own time in some of the steps.
        handover_ns: Host time per operation that is not the program's, to be taken off.
        nursery: Records the processes that the program spawns.
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
        own_timer: OwnTimer | None = None,
        handover_ns: int = 0,
        nursery: Nursery | None = None,
    ) -> None:
        self._finder = finder
        self._find = finder.find
        self._now_ns = clock.now_ns
        self._clocks = clocks
        self._camera = None if clocks is None else Camera(clocks)
        self._max_events = sys.maxsize if max_events is None else max_events
        self._has_room = True
        self._warmup = warmup
        self._last_step = sys.maxsize if max_steps is None else warmup + max_steps
        self._on_step = on_step
        self._own_timer = own_timer
        self._watched: OwnTimer | None = None
        self._handover_ns = handover_ns
        self._nursery = nursery
        self._others: list[EventSum] = []
        self._leader: ProcessRecord | None = None
        self._idle = IdleTime() if own_timer is not None else None
        self._stretch_due = sys.maxsize if own_timer is None or warmup else own_timer.stretches.due
        self._threads: list[_Thread] = []
        self._local = _Local(self._threads)
        self._main = self._local.thread
        self._kept: list[tuple[EventSum, int, int, str]] = []
        self._charged: list[tuple[Origin, str]] = []
        self._paused_ns = self._resumed_ns = self._now_ns()
        self._operations = 0
        self._most_operations = 0
        self._steps_started = 0
        self._decision_read: EventSum | None = None
        self.is_on = warmup == 0
        """Events are being counted."""
        self.step = NO_STEP
        """Number of the step that is open, counting from 0 after warm-up."""
        self.steps_recorded = 0
        self.unknown_operations: set[str] = set()
        self.notes: dict[str, None] = {}
        self._tally = Tally()
        self._outside = OutsideClock(self._resumed_ns)

    # What the device calls.

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
        if elapsed_ns > LONG_NS and self._idle is not None:
            idle_ns = self._idle.since_ns()
            elapsed_ns -= idle_ns + (COLD_NS if idle_ns > NOTHING_NS else 0)
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
        if self.step == NO_STEP and self._idle is not None:
            now_ns = self._resume_outside(thread, event, now_ns, is_long=is_long)
        self._resumed_ns = now_ns
        if self._watched is not None and thread is self._main:
            self._watched.resume(self._paused_ns, now_ns)

    def _resume_outside(
        self, thread: _Thread, event: EventSum | None, now_ns: int, *, is_long: bool
    ) -> int:
        """What is to be done after an operation in no step; says what time it is then."""
        idle = self._idle
        assert idle is not None, "asked only where it is"
        if event is not None:
            self._tally.outside_steps += 1
        if self._operations >= self._stretch_due and thread is self._main:
            self._go_on_watching((self._paused_ns, now_ns), event, is_long=is_long)
            now_ns = self._now_ns()
        if now_ns - idle.restarted_ns > LONG_NS or now_ns - self._paused_ns > LONG_NS:
            idle.restart()
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
            origin = self._find(sys._getframe(_DEVICE_FRAMES), thread.memo)
            if origin is None:
                origin, region = self._nobodys(region)
            elif not resumes and thread.is_paused:
                thread.origin = origin
        pair = thread.launches.get((operation, id(origin), region))
        if pair is None:
            pair = self._new_pair(thread, operation, origin, region)
        allocation, launch = pair
        allocation.count += 1
        allocation.nbytes += allocated
        launch.count += 1
        launch.nbytes += nbytes
        tally, step, clocks = self._tally, self.step, self._clocks
        if step != NO_STEP:
            begun = tally.steps_begun
            if launch.touched_in != begun or allocation.touched_in != begun:
                tally.touch(allocation)
                tally.touch(launch)
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
        if step == NO_STEP or self._watched is not None or tally.gaps or tally.is_new:
            self.resume()
        else:
            tally.event = None
            thread.is_paused = False
            thread.origin = None
            self._resumed_ns = self._now_ns()

    def _keep(self, event_sum: EventSum, nbytes: int, thread: _Thread) -> None:
        """Keep a single event, if it is one of the first."""
        self._has_room = len(self._kept) < self._max_events
        if self._has_room:
            self._kept.append((event_sum, self.step, nbytes, thread.name))

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

    def absorb(self, records: Sequence[ProcessRecord]) -> None:
        """Add what spawned processes did; if only they made steps, those of one of them are the program's."""
        if not self.steps_recorded:
            self._leader = leader(records)
            self.steps_recorded = self._leader.steps if self._leader else 0
        for record in records:
            if record is self._leader:
                self._others += record.sums
            else:
                self._others += beside(record, has_steps=bool(self.steps_recorded))
            self.unknown_operations.update(record.unknown_operations)
            self.notes.update(dict.fromkeys(record.notes))

    # What analysis reads.

    @property
    def sums(self) -> tuple[EventSum, ...]:
        """The sums of all threads in the order of their first events, then those of spawned processes."""
        own = (event_sum for thread in self._threads for event_sum in thread.sums.values())
        return (*own, *self._others)

    @property
    def counts(self) -> Counter[str]:
        """Events by kind."""
        totals: Counter[str] = Counter({str(kind): 0 for kind in EventKind})
        for event_sum in self.sums:
            totals[event_sum.kind] += event_sum.count
        return totals

    @property
    def events_dropped(self) -> int:
        """How many events of this process were summed but not kept singly."""
        own = (event_sum for thread in self._threads for event_sum in thread.sums.values())
        return sum(event_sum.count for event_sum in own) - len(self._kept)

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

    def times(self) -> Times:
        """Modelled time: of the steps, or of the run if there are none, and then sums are the run's, too."""
        if self._leader is not None:
            regions = defaultdict(RegionTime, self._leader.regions)
            return Times(regions, self._leader.busy_ns, self._leader.handover_ns)
        return self._tally.settled(self.sums, has_steps=bool(self.steps_recorded))

    @property
    def short_ns(self) -> int:
        """Gaps of the run that were too short to tell the program from the recorder."""
        return self._tally.short_ns

    @property
    def run_gaps(self) -> RunGaps | None:
        """What is known about the gaps of a run without steps; None if none of its stretches was watched."""
        if self._own_timer is None or not self._own_timer.stretches.seen:
            return None
        return self._tally.run_gaps(self.sums, self._own_timer.stretches, self._handover_ns)

    @property
    def outside(self) -> Outside | None:
        """What is in no step; None if there are no steps."""
        if self._leader is not None:
            return self._leader.outside
        return self._outside.found if self.steps_recorded else None

    @property
    def own_steps(self) -> Sequence[OwnStep]:
        """The own time of the steps that were watched."""
        if self._leader is not None:
            return self._leader.own_steps
        return () if self._own_timer is None else self._own_timer.steps

    @property
    def films(self) -> tuple[StepFilm, ...]:
        """Steps event by event, the median one first; empty where no time is modelled."""
        if self._leader is not None:
            return tuple(self._leader.films)
        return () if self._camera is None else self._camera.films

    def _whose(self, thread: _Thread, frame: FrameType) -> tuple[Origin, str]:
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

    def _new_pair(
        self, thread: _Thread, operation: str, origin: Origin, region: str
    ) -> tuple[EventSum, EventSum]:
        """The sums of an operation's allocations and launches, the same that `emit` would use."""
        pair = []
        for kind in (EventKind.ALLOCATION, _LAUNCH):
            key = (id(kind), operation, False, id(origin), region)
            new = EventSum(kind, operation, origin, region, is_blocking=False)
            pair.append(thread.sums.setdefault(key, new))
        self._tally.is_new = True
        made = (pair[0], pair[1])
        thread.launches[operation, id(origin), region] = made
        return made

    def _charge(self, event_sum: EventSum, nbytes: int, cost: tuple[float, float, float]) -> None:
        """Charge modelled time to a line and a region."""
        self._tally.charge(event_sum, cost, is_step=self.step != NO_STEP)
        if self._camera is not None:
            self._camera.take(event_sum, nbytes, cost)

    def _cross(self, region: str) -> None:
        """This thread goes on in a region."""
        if self._camera is not None:
            self._camera.cross(region)
        if self._watched is not None and self._local.thread is self._main:
            self._watched.cross(region, self._paused_ns)
        thread = self._local.thread
        thread.is_paused, thread.origin = False, None
        self._resumed_ns = self._now_ns()

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

    def _add_host_time(self, thread: _Thread, elapsed_ns: int) -> None:
        if self._clocks is None:
            return
        self._clocks.host(elapsed_ns)
        self._tally.add_host_time(thread.regions[-1], elapsed_ns)
