"""One modelled step in words and tables, beside the drawing that the browser makes of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.rendering import figures
from syncprobe.rendering.details import LINE, Column, Section
from syncprobe.rendering.summary import modelled_label

if TYPE_CHECKING:
    from syncprobe.analysis.model import Profile, Span, Timeline

LONGEST: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineText:
    """What the drawing shows."""

    caption: str
    notes: tuple[str, ...]
    tables: tuple[Section, ...]


def timeline_text(profile: Profile) -> TimelineText | None:
    """None if the profile has no timeline."""
    timeline = profile.timeline
    if timeline is None:
        return None
    label = modelled_label(profile)
    return TimelineText(
        caption=_caption(profile, timeline, label),
        notes=tuple(_notes(profile, timeline)),
        tables=(_by_region(timeline, label), _longest_waits(timeline, label)),
    )


def _caption(profile: Profile, timeline: Timeline, label: str) -> str:
    duration = f"{figures.duration(timeline.duration_us / 1e3)} ms"
    if not profile.run.steps:
        return f"The whole run, {duration}, {label}: no steps were marked."
    return (
        f"Step {timeline.step} of {profile.run.steps:,}, counted from 0 after warm-up: "
        f"{duration}, {label}. It is the recorded step with most events, not an average one."
    )


def _notes(profile: Profile, timeline: Timeline) -> list[str]:
    notes = [
        f"{figures.noun(len(timeline.spans), 'event')} on two clocks, host and device.",
        "Allocations are left out; conversions are ticks, because they are part of the program's own time.",
    ]
    if timeline.spans_left_out:
        notes.append(
            f"{figures.noun(timeline.spans_left_out, 'further event')} of this {profile.rate_noun} "
            "did not fit into the profile and are missing here; counts and tables have them."
        )
    notes.append(
        "Where events are thinner than a pixel, their height says how much of it they fill."
    )
    return notes


def _by_region(timeline: Timeline, label: str) -> Section:
    regions: defaultdict[str, float] = defaultdict(float)
    for stretch in timeline.regions:
        regions[stretch.region] += stretch.duration_us
    spans: defaultdict[str, list[Span]] = defaultdict(list)
    for span in timeline.spans:
        spans[span.region].append(span)
    rows = tuple(
        _region_row(name, regions.get(name, 0.0), spans[name])
        for name in dict.fromkeys([*regions, *spans])
    )
    titles = ("us", "launches", "launching, us", "syncs", "waiting, us", "device works, us")
    return Section(
        title=f"The step by region, {label}",
        columns=(
            Column(title="region", is_name=True),
            *(Column(title=title) for title in titles),
        ),
        rows=rows,
    )


def _region_row(name: str, duration_us: float, spans: list[Span]) -> tuple[str, ...]:
    launches = [span for span in spans if span.kind is EventKind.LAUNCH]
    waits = [span for span in spans if span.is_blocking]
    return (
        name,
        figures.duration(duration_us),
        figures.number(len(launches)),
        figures.duration(sum(span.host_us for span in launches)),
        figures.number(len(waits)),
        figures.duration(sum(span.stall_us for span in waits)),
        figures.duration(sum(span.device_us for span in spans)),
    )


def _longest_waits(timeline: Timeline, label: str) -> Section:
    waits = sorted(
        (span for span in timeline.spans if span.stall_us > 0), key=lambda span: -span.stall_us
    )
    return Section(
        title=f"Longest waits, {label}",
        columns=(
            Column(title="waiting, us"),
            Column(title="at, us"),
            LINE,
            Column(title="kind", is_name=True),
            Column(title="operation", is_name=True, is_code=True),
            Column(title="region", is_name=True),
        ),
        rows=tuple(
            (
                figures.duration(span.stall_us),
                figures.duration(span.start_us),
                figures.place(span.site),
                str(span.kind),
                span.operation,
                span.region,
            )
            for span in waits[:LONGEST]
        ),
    )
