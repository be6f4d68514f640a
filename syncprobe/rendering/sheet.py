"""Text being laid out at a given width. Nothing in it is ever read as markup."""

from __future__ import annotations

import io
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from syncprobe.rendering import figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from syncprobe.rendering import Page
    from syncprobe.rendering.tables import Column, Section

INDENT: Final = 3
LABEL: Final = 7
"""Columns for a word such as ``now:`` and the space after it."""
MAX_ROWS: Final = 40
GAP: Final = 2
SMALLEST: Final = 20
"""Columns that text is given even where there is no room for it."""


class Sheet:
    """Lines of text, from top to bottom."""

    def __init__(self, page: Page) -> None:
        self.width = page.width
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
        """Everything so far."""
        lines = self._stream.getvalue().splitlines()
        return "\n".join(line.rstrip() for line in lines) + "\n"

    @property
    def height(self) -> int:
        """How many lines that is."""
        return self._stream.getvalue().count("\n")

    def blank(self) -> None:
        """An empty line."""
        self._console.print()

    def paragraph(
        self,
        text: str,
        max_lines: int | None = None,
        *,
        indent: int = INDENT,
        hanging: int = 0,
        style: str = "",
    ) -> None:
        """As many lines as it takes, or as are allowed; all but the first can be indented further."""
        lines = self._cut(self._wrapped(figures.printable(text), indent + hanging), max_lines)
        for place, line in enumerate(lines):
            margin = " " * (indent + (hanging if place else 0))
            self._put(f"{margin}{line}", style)

    def labelled(self, label: str, lines: Sequence[str], max_lines: int | None = None) -> None:
        """Lines beside a word that says what they are; the indentation of code is kept."""
        indent = 2 * INDENT
        for line in lines:
            code = figures.printable(line.expandtabs(4))
            inner = len(code) - len(code.lstrip())
            wrapped = self._wrapped(code.lstrip(), indent + LABEL + inner)
            for part in self._cut(wrapped, max_lines) or [""]:
                self._put(f"{' ' * indent}{label.ljust(LABEL)}{' ' * inner}{part}".rstrip(), "")
                label = ""

    def section(self, section: Section) -> None:
        """A title, a table and what there is to say about it."""
        self.blank()
        self.line(section.title, style="bold")
        if section.rows:
            shown = section.rows if section.is_listing else section.rows[:MAX_ROWS]
            self.table(section.columns, shown)
            if len(shown) < len(section.rows):
                self.line(
                    f"… and {len(section.rows) - len(shown):,} more; --format json has them all.",
                    indent=INDENT,
                )
        for note in section.notes:
            self.paragraph(note)

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
        """Columns as wide as they have to be, within the page."""
        columns = [replace(each, title=figures.printable(each.title)) for each in columns]
        cells = [[figures.printable(cell) for cell in row] for row in rows]
        widths = _widths(columns, cells, self.width - INDENT)
        self._row([column.title for column in columns], columns, widths, style="dim")
        for row in cells:
            for part in _parts(row, columns, widths):
                self._row(part, columns, widths)

    def line(self, text: str, *, indent: int = 0, style: str = "") -> None:
        """One line, cut if it must be."""
        fitted = figures.shortened(figures.printable(text), self.width - indent)
        self._put(" " * indent + fitted, style)

    def append(self, other: Sheet) -> None:
        """What another sheet of the same page says, below."""
        self._stream.write(other._stream.getvalue())

    def _wrapped(self, text: str, indent: int) -> list[str]:
        lines = Text(text).wrap(self._console, max(self.width - indent, SMALLEST))
        return [line.plain.rstrip() for line in lines]

    def _cut(self, lines: list[str], most: int | None) -> list[str]:
        """As many lines as are allowed; the last one says if there is more."""
        shown = lines[:most]
        if len(shown) < len(lines):
            room = max(len(line) for line in lines) - len(" …")
            shown[-1] = f"{shown[-1][:room].rstrip()} …"
        return shown

    def _row(
        self,
        cells: Sequence[str],
        columns: Sequence[Column],
        widths: Mapping[int, int],
        style: str = "",
    ) -> None:
        texts = (_fitted(cells[place], columns[place], width) for place, width in widths.items())
        self._put(" " * INDENT + (" " * GAP).join(texts).rstrip(), style)

    def _put(self, line: str, style: str) -> None:
        self._console.print(Text(_harmless(line), style=style), soft_wrap=True)


def _harmless(line: str) -> str:
    """A line that no CI service takes for a command to itself: ``::error::``, ``##[error]``."""
    bare = line.lstrip()
    if bare.startswith("::"):
        line = f"{line[: len(line) - len(bare)]}: {bare[1:]}"
    return line.replace("##[", "# #[")


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


def _parts(
    row: Sequence[str], columns: Sequence[Column], widths: Mapping[int, int]
) -> Sequence[Sequence[str]]:
    """The row, and below it what of its last cell there is no room for."""
    last = len(columns) - 1
    if not columns[last].is_wrapped or last not in widths:
        return [row]
    first, *others = textwrap.wrap(row[last], widths[last]) or [""]
    return [[*row[:last], first], *([""] * last + [other] for other in others)]


def _fitted(cell: str, column: Column, width: int) -> str:
    shorten = figures.shortened_left if column.is_path else figures.shortened
    shown = shorten(cell, width)
    room = " " * max(width - cell_len(shown), 0)
    return shown + room if column.is_name else room + shown
