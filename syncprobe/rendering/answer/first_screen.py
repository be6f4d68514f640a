"""The first screen of a terminal: as much as thirty lines hold, the verdict last, no sentence cut."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from syncprobe.rendering import figures
from syncprobe.rendering.answer.summary import QUESTIONS
from syncprobe.rendering.lines.rows import lines_rows
from syncprobe.rendering.tables import LINE, Column

if TYPE_CHECKING:
    from collections.abc import Callable

    from syncprobe.rendering.answer.summary import Summary
    from syncprobe.rendering.answer.todo import ToDo
    from syncprobe.rendering.sheet import Sheet

MOST_LINES: Final = 30
WARNING_LINES: Final = 4
BESIDE_PLACE: Final = 20
"""Columns that a long path leaves to what is said about it."""
LEAST_PATH: Final = 16
"""Columns in which the end of a path still says something."""
CODE_LINES: Final = 2
FIRST_CODE: Final = 2
"""The example for what is worth most may be so much longer."""
COLUMNS: Final = (
    Column(title="us"),
    Column(title="share", is_optional=True),
    LINE,
    Column(title="what", is_name=True, minimum=10, is_wrapped=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How much of everything is shown."""

    lines: int
    to_dos: int
    code: int
    """Lines that an example of what to write may have; longer ones are left to ``syncprobe explain``."""
    reasons: int = 9
    has_source: bool = True
    is_brief: bool = False
    """Only the share of each thing to do, and the first sentence on what to do."""
    warnings: int = 9


PLANS: Final = (
    Layout(lines=5, to_dos=3, code=6),
    Layout(lines=5, to_dos=3, code=2),
    Layout(lines=3, to_dos=3, code=2),
    Layout(lines=3, to_dos=3, code=2, reasons=2),
    Layout(lines=3, to_dos=3, code=1, reasons=2),
    Layout(lines=2, to_dos=3, code=2, reasons=1),
    Layout(lines=2, to_dos=3, code=1, reasons=1),
    Layout(lines=3, to_dos=3, code=2, reasons=2, is_brief=True),
    Layout(lines=2, to_dos=3, code=1, reasons=1, is_brief=True),
    Layout(lines=2, to_dos=3, code=1, reasons=0, is_brief=True),
    Layout(lines=2, to_dos=3, code=0, reasons=1, is_brief=True),
    Layout(lines=1, to_dos=3, code=0, reasons=1, is_brief=True),
    Layout(lines=2, to_dos=3, code=0, reasons=0, is_brief=True),
    Layout(lines=1, to_dos=3, code=0, reasons=0, is_brief=True, has_source=False),
    Layout(lines=1, to_dos=2, code=0, reasons=0, is_brief=True, has_source=False),
    Layout(lines=1, to_dos=1, code=0, reasons=0, is_brief=True, has_source=False),
    Layout(lines=1, to_dos=1, code=0, reasons=0, is_brief=True, has_source=False, warnings=2),
    Layout(lines=1, to_dos=0, code=0, reasons=0, is_brief=True, has_source=False, warnings=1),
)
"""From the richest to the poorest; the first that fits is shown."""


def write_first_screen(new_sheet: Callable[[], Sheet], summary: Summary) -> Sheet:
    """The fullest screen that fits."""
    for plan in PLANS:
        if plan.code and not plan.reasons and not summary.is_about_device:
            continue  # what takes the time instead matters more than an example
        sheet = new_sheet()
        _write(sheet, summary, plan)
        if sheet.height <= MOST_LINES:
            return sheet
    return sheet


def _write(sheet: Sheet, summary: Summary, plan: Layout) -> None:
    sheet.paragraph(f"syncprobe: {summary.title}", style="bold", indent=0)
    _warn(sheet, summary, plan.warnings)
    sheet.blank()
    sheet.paragraph(f"{QUESTIONS[1]} {summary.ranking}", style="bold cyan", indent=0)
    _costly_lines(sheet, summary, plan.lines)
    sheet.blank()
    sheet.paragraph(QUESTIONS[2], style="bold cyan", indent=0)
    for place, to_do in enumerate(summary.to_dos[: plan.to_dos], start=1):
        _to_do(sheet, place, to_do, plan)
    if not summary.to_dos:
        sheet.paragraph(summary.nothing)
    sheet.paragraph(_more(summary, plan))
    sheet.blank()
    for reason in summary.reasons[-plan.reasons :] if plan.reasons else ():
        sheet.paragraph(reason, indent=0)
    sheet.paragraph(f"{QUESTIONS[0]} {summary.verdict}", style="bold cyan", indent=0)


def _warn(sheet: Sheet, summary: Summary, most: int) -> None:
    for warning in summary.warnings[:most]:
        style = "bold red" if warning in summary.doubts else ""
        sheet.paragraph(warning, WARNING_LINES, style=style, indent=0)
    left = len(summary.warnings) - most
    if left > 0:
        text = f"And {figures.noun(left, 'more warning')}, for which there is no room here."
        sheet.paragraph(text, style="bold red", indent=0)


def _costly_lines(sheet: Sheet, summary: Summary, most: int) -> None:
    if not summary.lines:
        sheet.paragraph("None: no event was recorded.")
        return
    sheet.table(COLUMNS, list(lines_rows(summary.lines, most)))


def _to_do(sheet: Sheet, place: int, to_do: ToDo, plan: Layout) -> None:
    named = replace(to_do, place=_shortened(to_do.place, sheet.width - BESIDE_PLACE))
    headline = named.brief if plan.is_brief else named.headline
    sheet.paragraph(f"{place}. {headline}", style="bold", hanging=3)
    if to_do.source and plan.has_source:
        sheet.labelled("now:", [to_do.source], CODE_LINES)
    sheet.labelled("do:", [to_do.gist if plan.is_brief else to_do.action])
    example = to_do.instead.splitlines()
    most = plan.code + (FIRST_CODE if plan.code and place == 1 else 0)
    if 0 < len(example) <= most:
        sheet.labelled("write:" if to_do.is_rewritten else "like:", example)


def _shortened(place: str, length: int) -> str:
    """A place with as much of a library's path as there is room for beside the reader's own line."""
    own, within, library = place.partition(" (in ")
    room = length - len(own) - len(within)
    if not within or room < LEAST_PATH:
        return figures.shortened_left(place, length)
    return f"{own}{within}{figures.shortened_left(library, room)}"


def _more(summary: Summary, plan: Layout) -> str:
    rule = next((to_do.rule for to_do in summary.to_dos if to_do.rule), "")
    about = f"syncprobe explain {rule}".rstrip()
    if plan.is_brief:
        return f"More: {about}, and --full."
    return f"Why, and what to write instead: {about}. All figures: --full."
