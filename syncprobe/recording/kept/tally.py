"""Adds up modelled time, of the whole run and of its steps, and can take a step back."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from syncprobe.events import RegionTime
from syncprobe.profiles.own_time.runs import RunGaps, ShortGaps

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from syncprobe.events import EventSum
    from syncprobe.recording.own_time.stretches import Stretches

REPEATED: Final = 0.5
"""A run is a loop if so many of its operations have been seen before."""
SPIKE_NS: Final = 150_000
"""An interrupt, or caches that another process has emptied, cost less."""
HICCUP_NS: Final = 1_000_000
"""So does what the system does to a process that has been waiting, and a host that lends its processors to others."""
RARE: Final = 0.1
"""What happens before fewer events of a sort than this is not what usually happens there."""
REGULAR: Final = 0.25
"""Noise does not keep time: of its gaps hardly any two follow each other at the same distance."""
TELLABLE_NS: Final = 2_000
"""Less own time than this per event nobody can tell from noise."""


@dataclass(slots=True)
class RareGaps:
    """Gaps before events of one sort that may be noise of the machine."""

    count: int = 0
    total_ns: int = 0
    _regular: int = 0
    """Those that came as many events after the last one as that one after the one before."""
    _last: int = 0
    _distance: int = 0

    def add(self, gap_ns: int, events: int) -> None:
        """There was one more, before the last of so many events."""
        self.count += 1
        self.total_ns += gap_ns
        distance = events - self._last
        self._regular += distance == self._distance
        self._last, self._distance = events, distance

    def is_noise(self, events: int) -> bool:
        """They come now and then before so many events, where gaps are usually short."""
        return self.count < RARE * events and self._regular < REGULAR * self.count


@dataclass(slots=True)
class LongGaps:
    """Gaps before events of one sort that were long enough to be measured."""

    event: EventSum
    count: int = 0
    _short: RareGaps = field(default_factory=RareGaps)
    _long: RareGaps = field(default_factory=RareGaps)

    def add(self, gap_ns: int) -> None:
        """There was one more."""
        self.count += 1
        if gap_ns <= HICCUP_NS:
            gaps = self._short if gap_ns <= SPIKE_NS else self._long
            gaps.add(gap_ns, self.event.count)

    @property
    def spikes(self) -> int:
        """How many were noise."""
        return sum(gaps.count for gaps in self._noise())

    @property
    def spikes_ns(self) -> int:
        """How long those took."""
        return sum(gaps.total_ns for gaps in self._noise())

    def _noise(self) -> list[RareGaps]:
        events = self.event.count
        noise = [self._short] if self._short.is_noise(events) else []
        # Longer ones may well be the program's, so they are left out only if they hardly matter.
        if self._long.total_ns <= TELLABLE_NS * events and self._long.is_noise(events):
            noise.append(self._long)
        return noise


@dataclass(slots=True)
class Times:
    """Modelled time by region, and what else belongs to it."""

    regions: defaultdict[str, RegionTime] = field(default_factory=lambda: defaultdict(RegionTime))
    busy_ns: float = 0.0
    """How long the device worked."""
    handover_ns: int = 0
    """What was taken off the host time because it is not the program's."""

    def add(self, other: Times) -> None:
        """Add the times of another stretch."""
        self.busy_ns += other.busy_ns
        self.handover_ns += other.handover_ns
        for name, time in other.regions.items():
            region = self.regions[name]
            region.host_ns += time.host_ns
            region.modelled_ns += time.modelled_ns


class Tally:
    """The times of a recording; sums of events carry theirs themselves."""

    def __init__(self) -> None:
        self.open = Times()
        """Since the last step began or ended; in neither of the sums yet."""
        self._run = Times()
        self._steps = Times()
        self._is_step = False
        self.short_ns = 0
        """Stretches that are too short to tell the program from the way to the recorder."""
        self.is_new = False
        """The operation under way was never seen before."""
        self.event: EventSum | None = None
        """What the operation under way has caused last."""
        self.long_ns = 0
        """Gaps since the last event that were long enough to be measured."""
        self.gaps: list[tuple[str, float]] = []
        """Time in which the program had control, since the last event."""
        self.operations = 0
        self.outside_steps = 0
        """Operations in no step that caused events."""
        self.steps_begun = 0
        self._first_ones = 0
        self._set_up: defaultdict[str, float] = defaultdict(float)
        self._long: dict[int, LongGaps] = {}
        self._touched: list[tuple[EventSum, int, int, float, float, int]] = []

    def charge(
        self, event_sum: EventSum, cost: tuple[float, float, float], *, is_step: bool
    ) -> None:
        """Add the cost of an event."""
        self.event = event_sum
        host_ns, stall_ns, busy_ns = cost
        event_sum.run_host_ns += host_ns
        event_sum.run_stall_ns += stall_ns
        if is_step:
            event_sum.host_ns += host_ns
            event_sum.stall_ns += stall_ns
        self.open.busy_ns += busy_ns
        self.open.regions[event_sum.region].modelled_ns += host_ns

    def add_host_time(self, region: str, elapsed_ns: float) -> None:
        """Add time in which the program had control."""
        self.gaps.append((region, elapsed_ns))
        time = self.open.regions[region]
        time.host_ns += elapsed_ns
        time.modelled_ns += elapsed_ns

    def end_first(self) -> None:
        """What came before an event that was never seen before is likely to be set-up."""
        self._first_ones += 1
        for region, elapsed_ns in self.gaps:
            self._set_up[region] += elapsed_ns
        self.is_new = False

    def note_long(self, event: EventSum) -> None:
        """The gap before an event of a sort that was seen before was long enough to be measured."""
        gaps = self._long.get(id(event))
        if gaps is None:
            gaps = self._long[id(event)] = LongGaps(event)
        gaps.add(self.long_ns)

    def touch(self, event_sum: EventSum) -> None:
        """Remember a sum as it stands, before the step that is open adds to it for the first time."""
        if event_sum.touched_in != self.steps_begun:
            event_sum.touched_in = self.steps_begun
            self._touched.append(
                (
                    event_sum,
                    event_sum.in_steps,
                    event_sum.nbytes_in_steps,
                    event_sum.host_ns,
                    event_sum.stall_ns,
                    event_sum.needed,
                )
            )

    def begin_step(self) -> None:
        """What follows is in a step, unless that turns out to be none."""
        self._put_away()
        self._is_step = True
        self._touched.clear()
        self.steps_begun += 1

    def end_step(self) -> None:
        """What follows is in no step."""
        self._put_away()

    def drop_step(self) -> None:
        """Take back what was added since the step began."""
        self._is_step = False
        self._put_away()
        for event_sum, *values in self._touched:
            _restore(event_sum, values)

    def _put_away(self) -> None:
        """Add the stretch that is open to the sums that it belongs to, and open the next one."""
        ended, self.open = self.open, Times()
        self._run.add(ended)
        if self._is_step:
            self._steps.add(ended)
        self._is_step = False

    def forget_steps(self, sums: Iterable[EventSum]) -> None:
        """Take back what was added in steps, none of which is open."""
        self._steps = Times()
        for each in sums:
            _restore(each, (0, 0, 0.0, 0.0, 0))

    def settled(self, sums: Iterable[EventSum], *, has_steps: bool) -> Times:
        """The times to show: those of steps or, if there are none, of the run without its set-up."""
        times = Times()
        if has_steps:
            times.add(self._steps)
            if self._is_step:
                times.add(self.open)
            return times
        for each in sums:
            each.host_ns, each.stall_ns = each.run_host_ns, each.run_stall_ns
        times.add(self._run)
        times.add(self.open)
        if self.operations - self._first_ones >= REPEATED * self.operations:
            for region, set_up_ns in self._set_up.items():
                times.regions[region].host_ns -= set_up_ns
                times.regions[region].modelled_ns -= set_up_ns
        for gaps in self._long.values():
            time = times.regions[gaps.event.region]
            spikes_ns = min(gaps.spikes_ns, time.host_ns)
            time.host_ns -= spikes_ns
            time.modelled_ns -= spikes_ns
        return times

    def run_gaps(
        self, sums: Iterable[EventSum], stretches: Stretches, handover_ns: float
    ) -> RunGaps:
        """What is known about the time between operations of a run without steps."""
        long = sum(gaps.count - gaps.spikes for gaps in self._long.values())
        short = [
            ShortGaps(
                each.region, each.count - self._measured(each), tuple(stretches.seen[id(each)])
            )
            for each in sums
            if id(each) in stretches.seen
        ]
        watched = sum(gaps.count for gaps in short)
        return RunGaps(
            short=short,
            others=max(self.outside_steps - long - watched, 0),
            long=long,
            handover_ns=handover_ns,
            spikes_ns=sum(gaps.spikes_ns for gaps in self._long.values()),
            stretches=stretches.watched,
            waited_share=stretches.waited_share,
            yardstick_ns=stretches.yardstick_ns,
        )

    def _measured(self, event: EventSum) -> int:
        """Before how many events of a sort the gap was measured, and is believed."""
        gaps = self._long.get(id(event))
        return 0 if gaps is None else gaps.count - gaps.spikes


def _restore(event_sum: EventSum, values: Sequence[float]) -> None:
    event_sum.in_steps, event_sum.nbytes_in_steps = int(values[0]), int(values[1])
    event_sum.host_ns, event_sum.stall_ns, event_sum.needed = values[2], values[3], int(values[4])
