"""The modelled step as a trace in Chrome's event format, which Perfetto and chrome://tracing open."""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from syncprobe._version import __version__
from syncprobe.errors import SyncprobeError
from syncprobe.events import EventKind
from syncprobe.profiles.titles import title_of
from syncprobe.rendering import figures
from syncprobe.rendering.labels import modelled_label
from syncprobe.rendering.traces.counters import counters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.profiles.model import Profile, RegionSpan, Span, Timeline
    from syncprobe.rendering import Page

HOST_TRACK: Final = 1
DEVICE_TRACK: Final = 2
Fields = dict[str, Any]


class NoTimelineError(SyncprobeError):
    """A profile that holds no modelled step."""


@dataclass(slots=True, kw_only=True)
class Slice:
    """A stretch of one track, with what happens inside it."""

    name: str
    category: str
    start_ns: int
    end_ns: int
    arguments: Fields = field(default_factory=dict)
    children: list[Slice] = field(default_factory=list)
    is_instant: bool = False


def render(profiles: Sequence[Profile], _page: Page) -> str:
    """One process per profile: a host track, a device track and counters, all on the modelled clocks."""
    events: list[Fields] = []
    for number, profile in enumerate(profiles, start=1):
        events += (
            {"pid": number, **event} for event in _process(profile, timeline_of(profile), number)
        )
    trace = {
        "displayTimeUnit": "ns",
        "otherData": {
            "syncprobe": __version__,
            "clock": "modelled, not measured",
            "profiles": [_facts(profile) for profile in profiles],
        },
        "traceEvents": events,
    }
    return json.dumps(trace, allow_nan=False, separators=(",", ":")) + "\n"


def timeline_of(profile: Profile) -> Timeline:
    """The modelled step of a profile.

    Raises:
        NoTimelineError: There is none; the message says why and what to do.
    """
    if profile.timeline is not None:
        return profile.timeline
    title = title_of(profile.run)
    if profile.run.device == "sim":
        why = "it was written before timelines were kept, or recorded nothing"
    else:
        why = f"time is modelled on the simulated device only, not on {profile.run.device}"
    raise NoTimelineError(
        f"The profile of {title} holds no modelled step to draw: {why}. "
        "Record the program again with 'syncprobe profile TARGET --device sim'."
    )


def nested(track: Slice) -> Iterator[Fields]:
    """Begin and end of a slice and of all inside it: in order, none leaving its parent."""
    yield from _nested(track, track.start_ns, track.end_ns)


def _nested(part: Slice, low: int, high: int) -> Iterator[Fields]:
    start = min(max(part.start_ns, low), high)
    end = min(max(part.end_ns, start), high)
    common = {"name": part.name, "cat": part.category, "ts": start / 1e3}
    if part.is_instant:
        yield {"ph": "i", "s": "t", **common, "args": part.arguments}
        return
    yield {"ph": "B", **common, "args": part.arguments}
    children = sorted(part.children, key=lambda child: child.start_ns)
    limits = [*(child.start_ns for child in children[1:]), end]
    cursor = start
    # What begins ends what ran before it: a host does one thing at a time.
    for child, limit in zip(children, limits, strict=False):
        until = max(cursor, min(end, limit))
        yield from _nested(child, cursor, until)
        cursor = min(max(cursor, child.end_ns), until)
    yield {"ph": "E", "ts": end / 1e3}


def _process(profile: Profile, timeline: Timeline, number: int) -> Iterator[Fields]:
    yield from _names(profile, number)
    yield from ({"tid": HOST_TRACK, **event} for event in nested(_host(profile, timeline)))
    for work in _device(timeline):
        yield from ({"tid": DEVICE_TRACK, **event} for event in nested(work))
    yield from counters(timeline)


def _facts(profile: Profile) -> Fields:
    """What the trace shows, and what it leaves out."""
    left_out = 0 if profile.timeline is None else profile.timeline.spans_left_out
    return {
        "modelled": True,
        "spec": figures.printable(profile.time.spec or profile.run.gpu),
        "command": figures.printable(profile.run.command),
        "syncprobe": figures.printable(profile.syncprobe),
        "events_left_out": left_out,
    }


def _names(profile: Profile, number: int) -> Iterator[Fields]:
    label = modelled_label(profile).replace("modelled", f"modelled {profile.rate_noun}", 1)
    title = figures.printable(title_of(profile.run))
    yield _metadata("process_name", {"name": f"{label}: {title}"})
    yield _metadata("process_sort_index", {"sort_index": number})
    for track, name in ((HOST_TRACK, "host"), (DEVICE_TRACK, "device")):
        yield {"tid": track, **_metadata("thread_name", {"name": f"{name}, modelled"})}
        yield {"tid": track, **_metadata("thread_sort_index", {"sort_index": track})}


def _metadata(name: str, arguments: Fields) -> Fields:
    return {"ph": "M", "name": name, "args": arguments}


def _host(profile: Profile, timeline: Timeline) -> Slice:
    """The step, its regions inside it, and inside those what the host did."""
    regions = sorted(map(_region, timeline.regions), key=lambda part: part.start_ns)
    spans = [_host_part(span) for span in timeline.spans]
    step = Slice(
        name=f"step {timeline.step}" if profile.run.steps else "run",
        category="step",
        start_ns=min([0, *(part.start_ns for part in (*regions, *spans))]),
        end_ns=max([_ns(timeline.duration_us), *(part.end_ns for part in (*regions, *spans))]),
        arguments=_facts(profile),
        children=list(regions),
    )
    starts = [region.start_ns for region in regions]
    for part in spans:
        place = bisect_right(starts, part.start_ns) - 1
        is_inside = place >= 0 and part.start_ns < regions[place].end_ns
        (regions[place] if is_inside else step).children.append(part)
    return step


def _region(region: RegionSpan) -> Slice:
    return Slice(
        name=figures.printable(region.region),
        category="region",
        start_ns=_ns(region.start_us),
        end_ns=_ns(region.start_us + region.duration_us),
    )


def _host_part(span: Span) -> Slice:
    start_ns, end_ns = _ns(span.start_us), _ns(span.start_us + span.host_us)
    part = Slice(
        name=_name(span),
        category=str(span.kind),
        start_ns=start_ns,
        end_ns=end_ns,
        arguments=_arguments(span),
        is_instant=span.kind is EventKind.CONVERSION,
    )
    if span.stall_us > 0:
        # The host issues first and waits then.
        waited_from = end_ns - _ns(span.stall_us)
        part.children.append(
            Slice(name="stall", category="stall", start_ns=waited_from, end_ns=end_ns)
        )
    return part


def _device(timeline: Timeline) -> Iterator[Slice]:
    """What the device did, one thing after the other."""
    cursor = None
    busy = [span for span in timeline.spans if span.device_us > 0]
    for span in sorted(busy, key=lambda span: span.device_start_us):
        start_ns = _ns(span.device_start_us)
        end_ns = _ns(span.device_start_us + span.device_us)
        start_ns = start_ns if cursor is None else max(start_ns, cursor)
        cursor = end_ns = max(start_ns, end_ns)
        yield Slice(
            name=_name(span),
            category="kernel" if span.kind is EventKind.LAUNCH else "transfer",
            start_ns=start_ns,
            end_ns=end_ns,
            arguments=_arguments(span),
        )


def _name(span: Span) -> str:
    operation = figures.printable(span.operation)
    return operation if span.kind is EventKind.LAUNCH else f"{span.kind}: {operation}"


def _arguments(span: Span) -> Fields:
    return {
        "site": figures.printable(figures.place(span.site)),
        "function": figures.printable(span.site.function),
        "operation": figures.printable(span.operation),
        "region": figures.printable(span.region),
        "bytes": span.nbytes,
        "blocking": span.is_blocking,
    }


def _ns(microseconds: float) -> int:
    return round(microseconds * 1e3)
