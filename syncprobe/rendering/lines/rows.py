"""Costly lines in words, and as rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.rendering import figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.rendering.lines.costly import CostlyLine

INSIDE: Final = "in "
"""Stands before the line of a library that the line above it reached."""


def lines_rows(lines: Sequence[CostlyLine], most: int) -> Iterator[tuple[str, str, str, str]]:
    """Rows of the first few lines; if there are fewer, more is said about what is beneath them."""
    shown = lines[:most]
    for line in shown:
        yield from _rows(line, max(most // len(shown), 1))


def _rows(line: CostlyLine, most: int) -> Iterator[tuple[str, str, str, str]]:
    """Cost, share, place and deeds of a line; beneath, the lines of libraries that did most of it."""
    yield (
        figures.duration(line.cost_us),
        "" if line.share is None else figures.percent(line.share),
        figures.place(line.site),
        line_sentence(line),
    )
    for place, inner in enumerate(line.beneath[:most], start=1):
        text = f"{figures.duration(inner.cost_us)} us of it: {line_sentence(inner)}"
        is_last = place == min(most, len(line.beneath))
        more = _others(line, most) if is_last else ""
        yield "", "", f"{INSIDE}{figures.place(inner.site)}", f"{text}{more}"


def line_sentence(line: CostlyLine) -> str:
    """What a costly line does, by kind; allocations go with nearly everything and say little."""
    telling = {kind: rate for kind, rate in line.rates.items() if kind != EventKind.ALLOCATION}
    shown = [f"{figures.number(rate)} {kind}" for kind, rate in (telling or line.rates).items()]
    if line.own_us:
        shown.insert(0, f"own code of {line.site.function.rpartition('.')[2]}".removesuffix(" of "))
    return ", ".join(shown)


def beneath_sentence(line: CostlyLine) -> str:
    """Where in libraries most of it happens, and in how many more lines; empty if nowhere."""
    if not line.beneath:
        return ""
    return f"{INSIDE}{figures.place(line.beneath[0].site)}{_others(line, 1)}"


def _others(line: CostlyLine, shown: int) -> str:
    more = len(line.beneath) - shown
    return f"; and {figures.noun(more, 'more line')}" if more > 0 else ""
