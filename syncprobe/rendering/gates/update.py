"""What became of committed profiles that were made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.rendering import Page, figures
from syncprobe.rendering.gates.result import NAMES
from syncprobe.rendering.tables import LINE, NOTHING, Column, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.budgets.update import Update
    from syncprobe.comparison.growth import Pair

FIGURES: Final = (
    Column(title="figure", is_name=True, minimum=16),
    Column(title="before"),
    Column(title="after"),
)
SITES: Final = (
    LINE,
    Column(title="what", is_name=True, minimum=24),
    Column(title="before"),
    Column(title="after"),
)


def render_console(updates: Sequence[Update], page: Page | None = None) -> str:
    """For a terminal: each profile with the figures and the lines that changed."""
    from syncprobe.rendering import console  # rich takes time to load

    written = sum(update.is_written for update in updates)
    title = f"gate --update: {written} of {figures.noun(len(updates), 'profile')} written"
    sections = [section for update in updates for section in _sections(update)]
    return console.render_sections(title, (), sections, page or Page())


def _sections(update: Update) -> list[Section]:
    if not update.is_written:
        return [Section(title=f"{update.budget}: {update.path} is as it was")]
    if update.before is None:
        state = "is new"
    elif update.figures or update.sites:
        state = "changed"
    else:
        state = "has only moved lines"
    rows = tuple(
        (NAMES.get(change.name, change.name), _rate(change.before), _rate(change.after))
        for change in update.figures
    )
    title = f"{update.budget}: {update.path} {state}"
    title += f"; per {update.after.rate_noun}:" if rows else ""
    sections = [Section(title=title, columns=FIGURES, rows=rows)]
    if update.sites:
        lines = tuple(_row(pair) for pair in update.sites)
        sections.append(
            Section(
                title=f"{update.budget}: lines that changed, per {update.after.rate_noun}:",
                columns=SITES,
                rows=lines,
            )
        )
    return sections


def _row(pair: Pair) -> tuple[str, ...]:
    site = pair.after or pair.before
    assert site is not None, "a pair has a site"
    return (
        figures.place(site.site),
        f"{site.kind} {site.operation}",
        _rate(None if pair.before is None else pair.before.per_step),
        _rate(None if pair.after is None else pair.after.per_step),
    )


def _rate(value: float | None) -> str:
    return NOTHING if value is None else figures.exact(value)
