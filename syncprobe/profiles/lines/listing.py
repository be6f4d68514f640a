"""Hot functions line by line: which ones to time, and what to show beside their source."""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Final, Protocol

from syncprobe.profiles.model import SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from syncprobe.events import CallSite, LineTime
    from syncprobe.profiles.host import HotSpot
    from syncprobe.profiles.model import Site

HOT_FUNCTIONS: Final = 6


class Source(Protocol):
    """Knows what is written on a line."""

    def written(self, site: CallSite) -> str:
        """The line with its indentation; empty if it cannot be read."""


def hot_functions(
    sites: Iterable[Site], spots: Iterable[HotSpot] = ()
) -> tuple[tuple[str, str], ...]:
    """Path and name of the functions whose lines cost most: in events, and in own time."""
    costs: defaultdict[tuple[str, str], tuple[float, int]] = defaultdict(lambda: (0.0, 0))
    for site in sites:
        if not site.site.function:
            continue
        key = (site.site.path, site.site.function)
        cost, count = costs[key]
        costs[key] = (cost + site.host_us_modelled, count + site.count)
    dearest = sorted(costs.items(), key=lambda item: (-item[1][0], -item[1][1], item[0]))
    own = [(spot.site.path, spot.site.function) for spot in spots if spot.is_function]
    return tuple(
        dict.fromkeys([*(key for key, _ in dearest[:HOT_FUNCTIONS]), *own[:HOT_FUNCTIONS]])
    )


def source_lines(times: Sequence[LineTime], source: Source) -> tuple[SourceLine, ...]:
    """The timed lines with their text, function by function in source order, each dedented as a whole."""
    ordered = sorted(times, key=lambda time: (time.site.path, time.site.line))
    texts = [source.written(time.site).rstrip() for time in ordered]
    margins: defaultdict[tuple[str, str], int] = defaultdict(lambda: sys.maxsize)
    for time, text in zip(ordered, texts, strict=True):
        key = (time.site.path, time.site.function)
        margins[key] = min(margins[key], len(text) - len(text.lstrip()))
    return tuple(
        SourceLine(
            site=time.site,
            text=text[margins[time.site.path, time.site.function] :],
            hits_per_step=round(time.hits_per_step, 6),
            measured_us_per_step=round(time.elapsed_us_per_step, 3),
        )
        for time, text in zip(ordered, texts, strict=True)
    )
