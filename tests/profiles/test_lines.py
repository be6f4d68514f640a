from __future__ import annotations

from collections.abc import Callable

from syncprobe.events import CallSite, EventSum, LineTime
from syncprobe.profiles import aggregate
from syncprobe.profiles.lines.listing import hot_functions, source_lines


class Written:
    """A source of which every line is known."""

    def __init__(self, *lines: str) -> None:
        self._lines = lines

    def written(self, site: CallSite) -> str:
        return self._lines[site.line - 1]


def timed(line: int, function: str = "act") -> LineTime:
    return LineTime(
        site=CallSite("a.py", line, function), hits_per_step=2.0, elapsed_us_per_step=1.5
    )


def test_functions_are_dedented_as_a_whole() -> None:
    source = Written("    if x:\n", "        y()\n", "z()\n")
    lines = source_lines([timed(2), timed(1), timed(3, "other")], source)
    assert [line.text for line in lines] == ["if x:", "    y()", "z()"]
    assert [line.site.line for line in lines] == [1, 2, 3]


def test_the_dearest_functions_come_first(event_sum: Callable[..., EventSum]) -> None:
    sums = [event_sum(line=1, host_ns=1e3), event_sum(line=2, host_ns=5e3)]
    sites = aggregate.sites_of(sums, steps=1)
    assert hot_functions(sites) == (("agent.py", "act"),)
