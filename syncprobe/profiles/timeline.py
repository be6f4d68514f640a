"""From a filmed step to the timeline of a profile: times count from its beginning, in microseconds."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from syncprobe.profiles.model import RegionSpan, Span, Timeline

if TYPE_CHECKING:
    from syncprobe.events import Moment, StepFilm


def timeline_of(film: StepFilm) -> Timeline:
    """The step as a profile keeps it."""
    return Timeline(
        step=film.step,
        duration_us=_us(film.duration_ns),
        regions=_regions(film),
        spans=tuple(_span(moment, film.start_ns) for moment in film.moments),
        spans_left_out=film.left_out,
        device_free_us=_us(film.device_free_ns - film.start_ns),
    )


def _regions(film: StepFilm) -> tuple[RegionSpan, ...]:
    """Stretches between crossings; those that follow each other in one region are one."""
    borders = [*film.crossings, (film.end_ns, "")]
    stretches: list[tuple[str, float, float]] = []
    for (start_ns, region), (end_ns, _) in pairwise(borders):
        if end_ns <= start_ns:
            continue
        continues = stretches and stretches[-1][0] == region
        stretches.append((region, stretches.pop()[1] if continues else start_ns, end_ns))
    return tuple(
        RegionSpan(
            region=region,
            start_us=_us(start_ns - film.start_ns),
            duration_us=_us(end_ns - start_ns),
        )
        for region, start_ns, end_ns in stretches
    )


def _span(moment: Moment, origin_ns: float) -> Span:
    event_sum = moment.event_sum
    return Span(
        site=event_sum.origin.site,
        kind=event_sum.kind,
        operation=event_sum.operation,
        region=event_sum.region,
        is_blocking=event_sum.is_blocking,
        nbytes=moment.nbytes,
        start_us=_us(moment.start_ns - origin_ns),
        host_us=_us(moment.host_ns),
        stall_us=_us(moment.stall_ns),
        device_start_us=_us(moment.device_start_ns - origin_ns),
        device_us=_us(moment.device_ns),
    )


def _us(ns: float) -> float:
    """Microseconds to the nanosecond: clocks know no more."""
    return round(ns / 1e3, 3)
