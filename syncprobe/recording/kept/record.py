"""All that a recording knows so far: the recorder adds to it, analysis reads it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

from syncprobe.events import Event, EventKind, EventSum, RegionTime
from syncprobe.recording.kept.film import Camera
from syncprobe.recording.kept.outside import OutsideClock
from syncprobe.recording.kept.tally import Tally, Times
from syncprobe.recording.kept.threads import Threads, sums_of
from syncprobe.recording.processes.record import beside, leader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.cuda.costs import TwoClocks
    from syncprobe.events import StepFilm
    from syncprobe.profiles.host import Outside
    from syncprobe.profiles.own_time.runs import RunGaps
    from syncprobe.profiles.own_time.steps import OwnStep
    from syncprobe.recording.kept.threads import ThreadState
    from syncprobe.recording.own_time.timer import OwnTimer
    from syncprobe.recording.processes.record import ProcessRecord

KEPT_VALUES: Final = 4
"""Of a single event its sum, step, bytes and thread are kept."""


class Record:
    """Sums, times and films, of this process and of those that it spawned.

    Args:
        now_ns: When it begins.
        clocks: The cost model, or None where no time is modelled (a real device, the CPU).
        own_timer: Watches the program's own time in some of the steps.
        handover_ns: Host time per operation that is not the program's, to be taken off.
    """

    # Of attributes without slots, Python finds no more than 30 quickly, and the recorder has more.
    __slots__ = (
        "_camera",
        "_handover_ns",
        "_kept",
        "_leader",
        "_local",
        "_others",
        "_outside",
        "_own_timer",
        "_tally",
        "_threads",
        "notes",
        "steps_recorded",
        "unknown_operations",
    )

    def __init__(
        self, now_ns: int, clocks: TwoClocks | None, own_timer: OwnTimer | None, handover_ns: int
    ) -> None:
        self._threads: list[ThreadState] = []
        self._local = Threads(self._threads)
        self._tally = Tally()
        self._outside = OutsideClock(now_ns)
        self._camera = None if clocks is None else Camera(clocks)
        self._own_timer = own_timer
        self._handover_ns = handover_ns
        self._kept: list[Any] = []
        """Single events, KEPT_VALUES of each one after the other: tuples would keep the garbage collector busy."""
        self._others: list[EventSum] = []
        self._leader: ProcessRecord | None = None
        self.steps_recorded = 0
        self.unknown_operations: set[str] = set()
        self.notes: dict[str, None] = {}

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

    @property
    def sums(self) -> tuple[EventSum, ...]:
        """The sums of all threads in the order of their first events, then those of spawned processes."""
        return (*sums_of(self._threads), *self._others)

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
        return sum(each.count for each in sums_of(self._threads)) - len(self._kept) // KEPT_VALUES

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
            for event_sum, step, nbytes, thread in zip(
                *[iter(self._kept)] * KEPT_VALUES, strict=True
            )
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
