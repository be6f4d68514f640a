"""A comparison as a comment for a pull request: in one screen, the answer first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.comparison.growth import line_pairs
from syncprobe.rendering import figures, markdown
from syncprobe.rendering.labels import modelled_label
from syncprobe.rendering.tables import NOTHING
from syncprobe.rendering.variants.ratios import measured_ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from syncprobe.comparison.alignment import Line
    from syncprobe.comparison.side_by_side import Change, Comparison
    from syncprobe.profiles.model import Site

MAX_LINES: Final = 6
MAX_CODE: Final = 80
SHOWN: Final = {
    "syncs": "syncs",
    "copy_to_host": "copies to host",
    "copy_to_device": "copies to device",
    "launch": "launches",
    "conversion": "conversions",
}
"""Figures worth a row, and what to call them."""


def render(title: str, comparison: Comparison) -> str:
    """The comment."""
    noun = comparison.after.rate_noun
    parts = [
        f"### syncprobe: {_headline(comparison)}",
        markdown.escape(title),
        "\n".join([f"| per {noun} | before | after |", "|:--|--:|--:|", *_rows(comparison)]),
        *_lines(comparison),
        "\n".join(f"- {markdown.escape(text)}" for text in _remarks(comparison)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _headline(comparison: Comparison) -> str:
    change = next(each for each in comparison.rates if each.name == "syncs")
    before, after = change.before or 0.0, change.after or 0.0
    if before == after:
        syncs = "as many syncs as before"
    else:
        word = "fewer" if after < before else "MORE"
        syncs = f"{word} syncs ({figures.number(before)}, then {figures.number(after)})"
    verdict = comparison.verdict
    if verdict is None or verdict.is_equivalent is None:
        same = "equivalence unknown"
    else:
        same = "trains the same" if verdict.is_equivalent else "does NOT train the same"
    return f"{syncs}; {same}"


def _rows(comparison: Comparison) -> Iterator[str]:
    for change in comparison.rates:
        if change.name in SHOWN and (change.before or change.after):
            yield _row(SHOWN[change.name], change, figures.number)
    for change in comparison.time:
        if change.name == "modelled_ms_per_step" and change.before is not None:
            yield _row(f"ms, {modelled_label(comparison.after)}", change, figures.duration)
    speedup = comparison.speedup
    if speedup is not None:
        times = (figures.duration(each) for each in (speedup.before_ms, speedup.after_ms))
        yield f"| ms, measured in turns | {' | '.join(times)} |"


def _row(name: str, change: Change, show: Callable[[float], str]) -> str:
    cells = (NOTHING if value is None else show(value) for value in (change.before, change.after))
    return f"| {name} | {' | '.join(cells)} |"


def _lines(comparison: Comparison) -> Iterator[str]:
    """The lines whose syncs came, went, or changed in number, those that changed most first."""
    found: list[tuple[float, str]] = []
    for pair in line_pairs(comparison.before, comparison.after):
        before, after = _syncs(pair.before), _syncs(pair.after)
        if before != after:
            shown = pair.after or pair.before
            assert shown is not None, "a pair has a line"
            cells = " | ".join(figures.number(each) for each in (before, after))
            found.append((abs(after - before), f"| {_code(shown)} | {cells} |"))
    if not found:
        return
    found.sort(key=lambda each: -each[0])
    rows = [row for _, row in found[:MAX_LINES]]
    if len(found) > MAX_LINES:
        rows.append(f"| … and {len(found) - MAX_LINES:,} more | | |")
    yield "\n".join(["| lines whose syncs changed | before | after |", "|:--|--:|--:|", *rows])


def _syncs(line: Line | None) -> float:
    sites: Iterable[Site] = () if line is None else line.sites.values()
    return sum(site.per_step for site in sites if site.is_blocking)


def _code(line: Line) -> str:
    place = markdown.escape(figures.place(next(iter(line.sites.values())).site))
    if not line.text:
        return place
    text = line.text if len(line.text) <= MAX_CODE else f"{line.text[: MAX_CODE - 1]}…"
    return f"{place}: {markdown.escape(text)}"


def _remarks(comparison: Comparison) -> Iterator[str]:
    verdict = comparison.verdict
    yield f"Equivalence: {'not checked' if verdict is None else verdict.summary}."
    if comparison.speedup is not None:
        yield f"Measured here, in turns: {measured_ratio(comparison.speedup.ratio)}."
    if verdict is not None:
        yield from verdict.remarks
