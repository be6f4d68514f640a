"""Adds up modelled time, of the whole run and of its steps, and can take a step back."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from syncprobe.events import RegionTime

if TYPE_CHECKING:
    from collections.abc import Iterable

    from syncprobe.events import EventSum

REPEATED: Final = 0.5
"""A run is a loop if so many of its operations have been seen before."""


@dataclass(slots=True)
class Times:
    """Modelled time by region, and what else belongs to it."""

    regions: defaultdict[str, RegionTime] = field(default_factory=lambda: defaultdict(RegionTime))
    busy_ns: float = 0.0
    """How long the device worked."""
    handover_ns: int = 0
    """What was taken off the host time because it is not the program's."""

    def copy(self) -> Times:
        """As it stands now."""
        regions = {
            name: RegionTime(time.host_ns, time.modelled_ns) for name, time in self.regions.items()
        }
        return Times(defaultdict(RegionTime, regions), self.busy_ns, self.handover_ns)


class Tally:
    """The times of a recording; sums of events carry theirs themselves."""

    def __init__(self) -> None:
        self.run = Times()
        self.steps = Times()
        self.short_ns = 0
        """Stretches that are too short to tell the program from the way to the recorder."""
        self.is_new = False
        """The operation under way was never seen before."""
        self.has_event = False
        """The operation under way has caused an event."""
        self.gaps: list[tuple[str, float]] = []
        """Time in which the program had control, since the last event."""
        self.operations = 0
        self.steps_begun = 0
        self._first_ones = 0
        self._set_up: defaultdict[str, float] = defaultdict(float)
        self._before = Times()
        self._touched: list[tuple[EventSum, tuple[float, ...]]] = []

    def charge(
        self, event_sum: EventSum, cost: tuple[float, float, float], *, is_step: bool
    ) -> None:
        """Add the cost of an event."""
        self.has_event = True
        host_ns, stall_ns, busy_ns = cost
        event_sum.run_host_ns += host_ns
        event_sum.run_stall_ns += stall_ns
        self.run.busy_ns += busy_ns
        self.run.regions[event_sum.region].modelled_ns += host_ns
        if is_step:
            event_sum.host_ns += host_ns
            event_sum.stall_ns += stall_ns
            self.steps.busy_ns += busy_ns
            self.steps.regions[event_sum.region].modelled_ns += host_ns

    def add_host_time(self, region: str, elapsed_ns: float, *, is_step: bool) -> None:
        """Add time in which the program had control."""
        self.gaps.append((region, elapsed_ns))
        for times in (self.run, self.steps) if is_step else (self.run,):
            time = times.regions[region]
            time.host_ns += elapsed_ns
            time.modelled_ns += elapsed_ns

    def end_first(self) -> None:
        """What came before an event that was never seen before is likely to be set-up."""
        self._first_ones += 1
        for region, elapsed_ns in self.gaps:
            self._set_up[region] += elapsed_ns
        self.is_new = False

    def touch(self, event_sum: EventSum) -> None:
        """Remember a sum as it stands, before the step that is open adds to it for the first time."""
        if event_sum.touched_in != self.steps_begun:
            self._touched.append((event_sum, _of_steps(event_sum)))
            event_sum.touched_in = self.steps_begun

    def begin_step(self) -> None:
        """Remember how things stand, in case the step turns out to be none."""
        self._before = self.steps.copy()
        self._touched.clear()
        self.steps_begun += 1

    def drop_step(self) -> None:
        """Take back what was added since the step began."""
        self.steps = self._before
        for event_sum, values in self._touched:
            _restore(event_sum, values)

    def forget_steps(self, sums: Iterable[EventSum]) -> None:
        """Take back what was added in steps."""
        self.steps = Times()
        for each in sums:
            _restore(each, (0, 0, 0.0, 0.0, 0))

    def settled(self, sums: Iterable[EventSum], *, has_steps: bool) -> Times:
        """The times to show: those of steps or, if there are none, of the run without its set-up."""
        if has_steps:
            return self.steps
        for each in sums:
            each.host_ns, each.stall_ns = each.run_host_ns, each.run_stall_ns
        times = self.run.copy()
        if self.operations - self._first_ones >= REPEATED * self.operations:
            for region, set_up_ns in self._set_up.items():
                times.regions[region].host_ns -= set_up_ns
                times.regions[region].modelled_ns -= set_up_ns
        return times


def _of_steps(event_sum: EventSum) -> tuple[float, ...]:
    return (
        event_sum.in_steps,
        event_sum.nbytes_in_steps,
        event_sum.host_ns,
        event_sum.stall_ns,
        event_sum.needed,
    )


def _restore(event_sum: EventSum, values: tuple[float, ...]) -> None:
    event_sum.in_steps, event_sum.nbytes_in_steps = int(values[0]), int(values[1])
    event_sum.host_ns, event_sum.stall_ns, event_sum.needed = values[2], values[3], int(values[4])
