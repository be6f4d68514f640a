"""Keeps a few steps event by event: a run may have millions of events, a picture has room for one step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from syncprobe.events import DEFAULT_REGION, Moment, StepFilm

if TYPE_CHECKING:
    from syncprobe.cuda.costs import TwoClocks
    from syncprobe.events import EventSum

MAX_MOMENTS: Final = 2000
MAX_FILMS: Final = 32
"""Of a longer run every second step is kept, then every fourth, and so on."""
_FIELDS: Final = len(Moment._fields)
WHOLE_RUN: Final = 0
"""The number of the only step there is while none was marked."""


@dataclass(slots=True)
class _Reel(StepFilm):
    """A film before anybody looks at it."""

    taken: list[Any] = field(default_factory=list)
    """The values of its moments one after the other: so many tuples would keep the garbage collector busy."""

    @property
    def events(self) -> int:
        """All events of the step, kept or not."""
        return len(self.taken) // _FIELDS + self.left_out

    def developed(self) -> StepFilm:
        """The film with its moments."""
        return StepFilm(
            self.step,
            self.start_ns,
            self.end_ns,
            [Moment(*values) for values in zip(*[iter(self.taken)] * _FIELDS, strict=True)],
            self.left_out,
            self.crossings,
            self.device_free_ns,
        )


class Camera:
    """Films each step on the modelled clocks and keeps a sample of them, the fullest and the longest."""

    def __init__(self, clocks: TwoClocks) -> None:
        self._clocks = clocks
        self.running: _Reel | None = None
        """The step that is being filmed."""
        self._fullest: _Reel | None = None
        self._longest: _Reel | None = None
        self._sample: list[_Reel] = []
        self._stride = 1
        self._ended = 0
        self.begin(WHOLE_RUN, DEFAULT_REGION)

    def begin(self, step: int, region: str) -> None:
        """A step begins, in a region."""
        now_ns = self._clocks.host_ns
        self.running = _Reel(
            step,
            now_ns,
            crossings=[(now_ns, region)],
            device_free_ns=max(self._clocks.device_ns, now_ns),
        )

    def end(self) -> None:
        """The step is over."""
        film, self.running = self.running, None
        if film is None:
            return
        film.end_ns = self._clocks.host_ns
        if self._fullest is None or film.events > self._fullest.events:
            self._fullest = film
        if self._longest is None or film.duration_ns > self._longest.duration_ns:
            self._longest = film
        self._keep(film)

    def _keep(self, film: _Reel) -> None:
        """Add to the sample, which thins itself out where a run is long."""
        if self._ended % self._stride == 0:
            self._sample.append(film)
        self._ended += 1
        if len(self._sample) > MAX_FILMS:
            self._sample = self._sample[::2]
            self._stride *= 2

    def drop(self) -> None:
        """The step that is being filmed is none."""
        self.running = None

    def forget(self) -> None:
        """What was filmed so far belongs to no step."""
        self.running = self._fullest = self._longest = None
        self._sample.clear()
        self._stride, self._ended = 1, 0

    def cross(self, region: str) -> None:
        """The host enters a region, or comes back to it."""
        if self.running is not None:
            self.running.crossings.append((self._clocks.host_ns, region))

    def take(self, event_sum: EventSum, nbytes: int, cost: tuple[float, float, float]) -> None:
        """Film one event that the clocks have just advanced by."""
        film = self.running
        if film is None:
            return
        taken = film.taken
        if len(taken) >= MAX_MOMENTS * _FIELDS:
            film.left_out += 1
            return
        host_ns, stall_ns, busy_ns = cost
        clocks = self._clocks
        start_ns, device_start_ns = clocks.host_ns - host_ns, clocks.device_ns - busy_ns
        taken += (event_sum, nbytes, start_ns, host_ns, stall_ns, device_start_ns, busy_ns)

    @property
    def films(self) -> tuple[StepFilm, ...]:
        """The median step, then the one with most events and the longest, each once; empty if there is none.

        The number of events comes before time, because it is the same on every machine.
        """
        if self._fullest is None or self._longest is None:
            return ()
        ordered = sorted(self._sample, key=lambda film: (film.events, film.duration_ns))
        median = ordered[(len(ordered) - 1) // 2]
        chosen = {film.step: film for film in (median, self._fullest, self._longest)}
        return tuple(film.developed() for film in chosen.values())
