"""Keeps one step event by event: a run may have millions of events, a picture has room for one step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.events import DEFAULT_REGION, EventKind, Moment, StepFilm

if TYPE_CHECKING:
    from syncprobe.events import EventSum
    from syncprobe.simgpu.costs import TwoClocks

MAX_MOMENTS: Final = 2000
WHOLE_RUN: Final = 0
"""The number of the only step there is while none was marked."""


class Camera:
    """Films each step on the modelled clocks and keeps the one with most events, the first of equals.

    The number of events, unlike time, is the same on every machine, so the same step is kept everywhere.
    """

    def __init__(self, clocks: TwoClocks) -> None:
        self._clocks = clocks
        self._running: StepFilm | None = None
        self._kept: StepFilm | None = None
        self.begin(WHOLE_RUN, DEFAULT_REGION)

    def begin(self, step: int, region: str) -> None:
        """A step begins, in a region."""
        now_ns = self._clocks.host_ns
        self._running = StepFilm(step, now_ns, crossings=[(now_ns, region)])

    def end(self) -> None:
        """The step is over."""
        film, self._running = self._running, None
        if film is None:
            return
        film.end_ns = self._clocks.host_ns
        if self._kept is None or film.events > self._kept.events:
            self._kept = film

    def forget(self) -> None:
        """What was filmed so far belongs to no step."""
        self._running = self._kept = None

    def cross(self, region: str) -> None:
        """The host enters a region, or comes back to it."""
        if self._running is not None:
            self._running.crossings.append((self._clocks.host_ns, region))

    def take(self, event_sum: EventSum, nbytes: int, cost: tuple[float, float, float]) -> None:
        """Film one event that the clocks have just advanced by."""
        film = self._running
        if film is None or event_sum.kind is EventKind.ALLOCATION:
            return
        if len(film.moments) >= MAX_MOMENTS:
            film.left_out += 1
            return
        host_ns, stall_ns, busy_ns = cost
        clocks = self._clocks
        film.moments.append(
            Moment(
                event_sum,
                nbytes,
                clocks.host_ns - host_ns,
                host_ns,
                stall_ns,
                clocks.device_ns - busy_ns,
                busy_ns,
            )
        )

    @property
    def film(self) -> StepFilm | None:
        """The step that was kept."""
        return self._kept
