"""Hot functions line by line, with what each line took and did."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.rendering import figures
from syncprobe.rendering.labels import measured_label
from syncprobe.rendering.tables import Column, Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from syncprobe.profiles.model import Profile, SourceLine

DONE: Final = ("syncs", "copies", "launches")
LISTING: Final = (
    Column(title="us"),
    Column(title="hits"),
    *(Column(title=title) for title in DONE),
    Column(title="line"),
    Column(title="source", is_name=True, is_code=True, minimum=30),
)
LISTING_NOTE: Final = "Times by line are line_profiler's, which slows a program down: good for shares, not for totals."


def listings(profile: Profile) -> Iterator[Section]:
    """Hot functions line by line, the dearest first."""
    functions: defaultdict[tuple[str, str], list[SourceLine]] = defaultdict(list)
    for line in profile.lines:
        functions[line.site.path, line.site.function].append(line)
    done = _done_by_line(profile)
    dearest_first = sorted(
        functions.items(), key=lambda item: -sum(line.measured_us_per_step for line in item[1])
    )
    for place, ((path, function), lines) in enumerate(dearest_first):
        yield Section(
            title=f"{function} in {path}, per {profile.rate_noun}, us {measured_label(profile)}",
            columns=LISTING,
            rows=tuple(_listing_row(line, done[line.site.path, line.site.line]) for line in lines),
            notes=(LISTING_NOTE,) if place == len(dearest_first) - 1 else (),
            is_listing=True,
        )


def _done_by_line(profile: Profile) -> Mapping[tuple[str, int], Mapping[str, float]]:
    """Syncs, copies and launches per step, by line."""
    done: defaultdict[tuple[str, int], dict[str, float]] = defaultdict(
        lambda: dict.fromkeys(DONE, 0.0)
    )
    for site in profile.sites:
        here = done[site.site.path, site.site.line]
        if site.is_blocking:
            here["syncs"] += site.per_step
        if site.kind in {EventKind.COPY_TO_HOST, EventKind.COPY_TO_DEVICE}:
            here["copies"] += site.per_step
        if site.kind is EventKind.LAUNCH:
            here["launches"] += site.per_step
    return done


def _listing_row(line: SourceLine, done: Mapping[str, float]) -> tuple[str, ...]:
    return (
        figures.duration(line.measured_us_per_step) if line.measured_us_per_step else "",
        *(figures.number(rate) if rate else "" for rate in (line.hits_per_step, *done.values())),
        str(line.site.line),
        line.text.replace("\t", "    "),
    )
