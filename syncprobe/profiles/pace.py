"""A filmed step at the program's own pace: recording slows own code down, and a picture must not show that."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from syncprobe.events import Moment, RegionTime, StepFilm
    from syncprobe.profiles.host import OwnTime


def paces(own: OwnTime, recorded: Mapping[str, RegionTime], steps: int) -> dict[str, float]:
    """By what own code of each region is shorter than it was while it was recorded."""
    return {
        name: own.by_region.get(name, 0.0) * 1e6 * max(steps, 1) / time.host_ns
        for name, time in recorded.items()
        if time.host_ns > 0
    }


def at_pace(film: StepFilm, pace: Mapping[str, float]) -> StepFilm:
    """The film with its own code at the given pace; events take what they are modelled to take.

    Args:
        film: A step as it was recorded.
        pace: A factor for the own time of each region; 1 where a region is not named.
    """
    old, new = zip(*_knots(film, pace), strict=True)

    def moved(at_ns: float) -> float:
        place = min(max(bisect_right(old, at_ns) - 1, 0), len(old) - 2)
        length = old[place + 1] - old[place]
        share = (at_ns - old[place]) / length if length > 0 else 0.0
        return float(new[place] + share * (new[place + 1] - new[place]))

    return replace(
        film,
        end_ns=moved(film.end_ns),
        moments=list(_moments(film, moved)),
        crossings=[(moved(since_ns), region) for since_ns, region in film.crossings],
    )


def _knots(film: StepFilm, pace: Mapping[str, float]) -> Iterator[tuple[float, float]]:
    """Where own code begins and ends, and regions change: when that was, and when it is."""
    borders = [since_ns for since_ns, _ in film.crossings]
    events = [(moment.start_ns, moment.start_ns + moment.host_ns) for moment in film.moments]
    edges = sorted(
        {film.start_ns, film.end_ns, *borders, *(edge for pair in events for edge in pair)}
    )
    starts = [start for start, _ in events]
    was = now = film.start_ns
    yield was, now
    for edge in edges:
        if not film.start_ns < edge <= film.end_ns:
            continue
        place = bisect_right(starts, was) - 1
        is_event = place >= 0 and was < events[place][1]
        region = film.crossings[max(bisect_right(borders, was) - 1, 0)][1]
        now += (edge - was) * (1.0 if is_event else pace.get(region, 1.0))
        was = edge
        yield was, now
    yield was + 1.0, now + 1.0


def _moments(film: StepFilm, moved: Callable[[float], float]) -> Iterator[Moment]:
    """Events where they are now; the device works for them as long after their start as it did, one by one."""
    free_ns = film.device_free_ns
    for moment in film.moments:
        start_ns = moved(moment.start_ns)
        device_start_ns = moment.device_start_ns + start_ns - moment.start_ns
        if moment.device_ns > 0:
            device_start_ns = max(device_start_ns, free_ns)
            free_ns = device_start_ns + moment.device_ns
        yield moment._replace(start_ns=start_ns, device_start_ns=device_start_ns)
