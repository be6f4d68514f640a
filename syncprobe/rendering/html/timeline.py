"""One modelled step in words and tables, beside the drawing that the browser makes of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.rendering import figures
from syncprobe.rendering.labels import modelled_label
from syncprobe.rendering.tables import LINE, Column, Section

if TYPE_CHECKING:
    from syncprobe.profiles.model import Profile, Span, Timeline

LONGEST: Final = 10
_WHICH: Final = {
    "median": "It is the median step, by its number of events and then by time.",
    "most events": "It is the step with most events, not a usual one.",
    "longest": "It is the longest step, not a usual one.",
    "longest, most events": "It is the longest step and the one with most events, not a usual one.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineText:
    """What the drawing shows."""

    caption: str
    has_unknown: bool
    """Something in it was not recorded."""
    notes: tuple[str, ...]
    tables: tuple[Section, ...]


def timeline_text(profile: Profile) -> TimelineText | None:
    """None if the profile has no timeline."""
    timeline = profile.timeline
    if timeline is None:
        return None
    label = modelled_label(profile)
    return TimelineText(
        caption=step_caption(profile, timeline),
        has_unknown=any(
            each.spans_left_out or each.device_free_us
            for each in (timeline, *profile.other_timelines)
        ),
        notes=tuple(_notes(profile, timeline)),
        tables=(_by_region(timeline, label), _longest_waits(timeline, label)),
    )


def step_caption(profile: Profile, timeline: Timeline) -> str:
    """Which step it is, and how long."""
    duration = f"{figures.duration(timeline.duration_us / 1e3)} ms, {modelled_label(profile)}"
    if not profile.run.steps:
        return f"The whole run, {duration}: no steps were marked."
    return (
        f"Step {timeline.step} of {profile.run.steps:,}, counted from 0 after warm-up: {duration}. "
        f"{_WHICH[_sort(profile, timeline)]}"
    )


def step_name(profile: Profile, timeline: Timeline) -> str:
    """What the picker calls a step."""
    return f"step {timeline.step}, {_sort(profile, timeline)}"


def _sort(profile: Profile, timeline: Timeline) -> str:
    """Why a step was kept."""
    if timeline == profile.timeline:
        return "median"
    kept = (profile.timeline, *profile.other_timelines)
    is_longest = timeline.duration_us >= max(each.duration_us for each in kept if each is not None)
    is_fullest = _events(timeline) >= max(_events(each) for each in kept if each is not None)
    if is_longest and is_fullest:
        return "longest, most events"
    return "longest" if is_longest else "most events"


def _events(timeline: Timeline) -> int:
    return len(timeline.spans) + timeline.spans_left_out


def _notes(profile: Profile, timeline: Timeline) -> list[str]:
    notes = [
        f"{figures.noun(len(timeline.spans), 'event')} on two clocks, host and device.",
        "Allocations are left out; conversions are ticks, because they are part of the program's own time.",
    ]
    if timeline.spans_left_out:
        notes.append(
            f"{figures.noun(timeline.spans_left_out, 'further event')} of this {profile.rate_noun} "
            "did not fit into the profile: the time they took is hatched. Counts and tables have them."
        )
    if timeline.device_free_us > 0:
        notes.append("Where the device still works for an earlier step, it is hatched too.")
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
