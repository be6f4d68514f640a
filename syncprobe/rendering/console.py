"""A profile for a terminal: the three answers on the first screen, the evidence below."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from syncprobe.rendering import details, figures
from syncprobe.rendering.details import LINE, Column
from syncprobe.rendering.summary import QUESTIONS, line_sentence, summarise

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from syncprobe.analysis.model import Profile
    from syncprobe.rendering import Page
    from syncprobe.rendering.details import Section
    from syncprobe.rendering.summary import Summary

INDENT: Final = 3
REASON_LINES: Final = 2
ADVICE_LINES: Final = 2
MAX_ROWS: Final = 40
GAP: Final = 2


def render(profiles: Sequence[Profile], page: Page) -> str:
    """The profiles one after the other, each beginning with its first screen."""
    sheet = _Sheet(page)
    for place, profile in enumerate(profiles):
        if place:
            sheet.blank()
        sheet.first_screen(summarise(profile))
        for section in details.sections(profile):
            sheet.section(section)
    return sheet.text()


def render_sections(
    title: str, paragraphs: Sequence[str], sections: Iterable[Section], page: Page
) -> str:
    """Anything that comes as sections, laid out as those of a profile are."""
    sheet = _Sheet(page)
    sheet.heading(title, paragraphs)
    for section in sections:
        sheet.section(section)
    return sheet.text()


class _Sheet:
    """Text being laid out at a given width. Nothing in it is ever read as markup."""

    def __init__(self, page: Page) -> None:
        self._width = page.width
        self._stream = io.StringIO()
        self._console = Console(
            file=self._stream,
            width=page.width,
            force_terminal=page.is_coloured,
            color_system="standard" if page.is_coloured else None,
            markup=False,
            highlight=False,
            emoji=False,
            legacy_windows=False,
        )

    def text(self) -> str:
        lines = self._stream.getvalue().splitlines()
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def blank(self) -> None:
        self._console.print()

    def heading(self, title: str, paragraphs: Sequence[str]) -> None:
        self._line(f"syncprobe: {title}", style="bold")
        for paragraph in paragraphs:
            self._paragraph(paragraph, indent=0)

    def first_screen(self, summary: Summary) -> None:
        self._line(f"syncprobe: {summary.title}", style="bold")
        for warning in summary.warnings:
            self._line(warning, style="bold red")
        self._question(0, summary.verdict)
        for reason in summary.reasons:
            self._paragraph(reason, REASON_LINES)
        self._question(1, summary.ranking)
        self._costly_lines(summary)
        self._question(2, "")
        self._line(summary.first.headline, indent=INDENT, style="bold")
        if summary.first.advice:
            # Warnings take the room of advice: the whole first screen is 24 lines at most.
            self._paragraph(summary.first.advice, 1 if summary.warnings else ADVICE_LINES)
        self._paragraph(summary.first.next_step)

    def section(self, section: Section) -> None:
        self.blank()
        self._line(section.title, style="bold")
        if section.rows:
            shown = section.rows if section.is_listing else section.rows[:MAX_ROWS]
            self._table(section.columns, shown)
            if len(shown) < len(section.rows):
                self._line(
                    f"… and {len(section.rows) - len(shown):,} more; --format json has them all.",
                    indent=INDENT,
                )
        for note in section.notes:
            self._paragraph(note)

    def _question(self, place: int, answer: str) -> None:
        self.blank()
        question = f"{place + 1}. {QUESTIONS[place]} {answer}".rstrip()
        self._paragraph(question, style="bold cyan", indent=0)

    def _costly_lines(self, summary: Summary) -> None:
        if not summary.lines:
            self._line("None: no event was recorded.", indent=INDENT)
            return
        rows = [
            (
                figures.duration(line.cost_us),
                "" if line.share is None else figures.percent(line.share),
                figures.place(line.site),
                line_sentence(line),
            )
            for line in summary.lines
        ]
        columns = (
            Column(title="us"),
            Column(title="share"),
            LINE,
            Column(title="what, how often", is_name=True, minimum=20),
        )
        self._table(columns, rows)

    def _table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
        cells = [[figures.printable(cell) for cell in row] for row in rows]
        widths = _widths(columns, cells, self._width - INDENT)
        self._row([column.title for column in columns], columns, widths, style="dim")
        for row in cells:
            self._row(row, columns, widths)

    def _row(
        self,
        cells: Sequence[str],
        columns: Sequence[Column],
        widths: Mapping[int, int],
        style: str = "",
    ) -> None:
        texts = (_fitted(cells[place], columns[place], width) for place, width in widths.items())
        self._put(" " * INDENT + (" " * GAP).join(texts).rstrip(), style)

    def _line(self, text: str, *, indent: int = 0, style: str = "") -> None:
        """One line, cut if it must be."""
        fitted = figures.shortened(figures.printable(text), self._width - indent)
        self._put(" " * indent + fitted, style)

    def _paragraph(
        self, text: str, max_lines: int | None = None, *, indent: int = INDENT, style: str = ""
    ) -> None:
        """As many lines as it takes, or as are allowed."""
        lines = Text(figures.printable(text)).wrap(self._console, self._width - indent)
        for place, line in enumerate(lines[:max_lines]):
            is_cut = max_lines is not None and place == max_lines - 1 < len(lines) - 1
            ending = " …" if is_cut else ""
            self._line(f"{line.plain.rstrip()}{ending}", indent=indent, style=style)

    def _put(self, line: str, style: str) -> None:
        self._console.print(Text(line, style=style), soft_wrap=True)


def _widths(columns: Sequence[Column], cells: Sequence[Sequence[str]], room: int) -> dict[int, int]:
    """The columns to show and their widths: optional ones go first, then names are shortened."""
    natural = {
        place: max(cell_len(column.title), *(cell_len(row[place]) for row in cells))
        for place, column in enumerate(columns)
    }
    smallest = {
        place: width if columns[place].minimum is None else min(width, columns[place].minimum or 0)
        for place, width in natural.items()
    }
    for place in reversed([place for place in natural if columns[place].is_optional]):
        if sum(smallest.values()) + GAP * (len(smallest) - 1) <= room:
            break
        del natural[place], smallest[place]
    excess = sum(natural.values()) + GAP * (len(natural) - 1) - room
    while excess > 0:
        place = max(natural, key=lambda place: natural[place] - smallest[place])
        if natural[place] == smallest[place]:
            break
        natural[place] -= 1
        excess -= 1
    return natural


def _fitted(cell: str, column: Column, width: int) -> str:
    shorten = figures.shortened_left if column.is_path else figures.shortened
    shown = shorten(cell, width)
    room = " " * max(width - cell_len(shown), 0)
    return shown + room if column.is_name else room + shown
