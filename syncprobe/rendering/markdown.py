"""A profile for a pull-request comment: the same words as on the console, never over its limit."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from syncprobe.rendering import details, figures
from syncprobe.rendering.answer.summary import QUESTIONS, summarise
from syncprobe.rendering.lines.rows import lines_rows
from syncprobe.rendering.tables import LINE, NOTHING, Column, Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from syncprobe.profiles.model import Profile
    from syncprobe.rendering import Page, SourceText
    from syncprobe.rendering.answer.summary import Summary
    from syncprobe.rendering.answer.todo import ToDo

MAX_BYTES: Final = 60_000
"""GitHub refuses comments over 65,536; a few words around the report must fit too."""
ROW_LIMITS: Final = (50, 20, 8, 3, 0)
FEWEST_NOTES: Final = 3
OPEN_ROWS: Final = 8
"""A table that is not folded away keeps at least as many."""
MAX_CELL: Final = 120
MAX_CODE_LINES: Final = 12
MAX_PARAGRAPH: Final = 500
"""Characters, each of which may need six to be shown as itself: one first screen always fits."""
_ROOM_FOR_NOTE: Final = 200
# An underscore inside a word is no emphasis, and names are full of them. Addresses would become links.
_SPECIAL: Final = re.compile(
    r"[&<>|`*\[\]\\~#@$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?<=www)\.", re.IGNORECASE
)
_TICKS: Final = re.compile("`+")
_PLAIN_IN_CODE: Final = re.compile(r"[^`|\\]+")


def render(profiles: Sequence[Profile], page: Page) -> str:
    """The profiles one after the other, with as many rows as fit, and then as many parts."""
    return _fitted(lambda limit: _parts(profiles, limit, page.source))


def render_sections(title: str, paragraphs: Sequence[str], sections: Iterable[Section]) -> str:
    """Anything that comes as sections, with as many rows as fit.

    The first table is open and comes first; without any table, everything is open.
    """
    filled = [section for section in sections if section.rows or section.notes]
    first = next((place for place, section in enumerate(filled) if section.rows), None)
    opened, folded = (filled, []) if first is None else ([filled.pop(first)], filled)

    def parts(limit: int) -> Iterator[list[str]]:
        yield [f"## syncprobe: {_paragraph(title)}"]
        if paragraphs:
            yield [f"- {_paragraph(text)}" for text in paragraphs]
        yield from (list(_open(section, limit)) for section in opened)
        yield from (list(_section(section, limit)) for section in folded)

    return _fitted(parts)


def escape(text: str) -> str:
    """Text that shows as itself, whatever is in it."""
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", figures.printable(text))


def code(text: str) -> str:
    """A name as code, or escaped if code cannot hold it inside a table."""
    shown = figures.printable(text)
    if _PLAIN_IN_CODE.fullmatch(shown) and shown == shown.rstrip():
        return f"`{shown}`"
    return escape(text)


def _fitted(parts: Callable[[int], Iterable[Sequence[str]]]) -> str:
    """Parts with as many rows in their tables as fit; if they never do, the first few parts.

    A part is whole or left out: half a table or an open fold would swallow what follows.
    """
    for limit in ROW_LIMITS:
        blocks = ["".join(f"{line}\n" for line in part) for part in parts(limit)]
        if sum(map(_size, blocks)) <= MAX_BYTES:
            return "\n".join(blocks)
    sizes = accumulate(map(_size, blocks))
    kept = sum(size <= MAX_BYTES - _ROOM_FOR_NOTE for size in sizes)
    lines = [line for block in blocks[kept:] for line in block.splitlines() if line]
    note = f"… {len(lines):,} more lines left out: they do not fit in a comment. `--format json` has it all.\n"
    return "\n".join([*blocks[:kept], note])


def _size(block: str) -> int:
    return len(block.encode("utf-8", "replace")) + len("\n")


def _parts(
    profiles: Sequence[Profile], limit: int, source: SourceText | None = None
) -> Iterator[list[str]]:
    for number, profile in enumerate(profiles):
        rule = ["---", ""] if number else []
        yield [*rule, *_first_screen(summarise(profile, source))]
        yield from (list(_section(section, limit)) for section in details.sections(profile))


def _paragraph(text: str) -> str:
    return escape(_short(text, MAX_PARAGRAPH, figures.shortened))


def _short(text: str, length: int, shorten: Callable[[str, int], str]) -> str:
    # Spelling out what cannot be seen makes a text longer, and a long one takes its time.
    return shorten(figures.printable(shorten(text, length)), length)


def _first_screen(summary: Summary) -> Iterator[str]:
    yield f"## syncprobe: {_paragraph(summary.title)}"
    for warning in summary.warnings:
        yield ""
        yield f"**{_paragraph(warning)}**"
    yield ""
    yield f"### 1. {QUESTIONS[0]}"
    yield ""
    yield f"**{_paragraph(summary.verdict)}**"
    yield ""
    yield from (f"- {_paragraph(reason)}" for reason in summary.reasons)
    yield ""
    yield f"### 2. {QUESTIONS[1]}"
    yield ""
    yield from _costly_lines(summary)
    yield ""
    yield f"### 3. {QUESTIONS[2]}"
    yield ""
    for place, to_do in enumerate(summary.to_dos, start=1):
        yield from _to_do(place, to_do)
    if not summary.to_dos:
        yield f"**{summary.nothing}**"


def _to_do(place: int, to_do: ToDo) -> Iterator[str]:
    yield f"{place}. **{_paragraph(to_do.headline)}**"
    if to_do.source:
        yield f"   - now: {code(_short(to_do.source, MAX_CELL, figures.shortened))}"
    yield f"   - do: {_paragraph(to_do.action)}"
    if to_do.instead:
        yield f"   - {'write' if to_do.is_rewritten else 'like'}:"
        yield ""
        yield from (f"     {line}".rstrip() for line in _fenced(to_do.instead))
    if to_do.rule:
        rule = _short(to_do.rule, MAX_CELL, figures.shortened)
        yield f"   - why: {code(f'syncprobe explain {rule}')}"


def _fenced(text: str) -> Iterator[str]:
    """A block of code; its fence is longer than any that a hostile profile could put into it."""
    lines = [
        _short(line, MAX_CELL, figures.shortened) for line in text.splitlines()[:MAX_CODE_LINES]
    ]
    longest = max((len(found) for line in lines for found in _TICKS.findall(line)), default=0)
    fence = "`" * max(longest + 1, 3)
    yield f"{fence}python"
    yield from lines
    yield fence


def _costly_lines(summary: Summary) -> Iterator[str]:
    if not summary.lines:
        yield "None: no event was recorded."
        return
    yield escape(summary.ranking)
    yield ""
    yield from _table(
        (
            Column(title="us"),
            Column(title="share"),
            LINE,
            Column(title="what", is_name=True),
        ),
        list(lines_rows(summary.lines, len(summary.lines))),
    )


def _open(section: Section, limit: int) -> Iterator[str]:
    yield f"### {_paragraph(section.title)}"
    yield from _content(section, max(limit, OPEN_ROWS))


def _section(section: Section, limit: int) -> Iterator[str]:
    yield "<details>"
    yield f"<summary>{escape(section.title)}</summary>"
    yield from _content(section, limit)
    yield ""
    yield "</details>"


def _content(section: Section, limit: int) -> Iterator[str]:
    if section.rows:
        yield ""
        yield from _rows(section, limit)
    if section.notes:
        yield ""
        shown = section.notes[: max(limit, FEWEST_NOTES)]
        yield from (f"- {_paragraph(note)}" for note in shown)
        yield from _left_out(len(section.notes) - len(shown))


def _rows(section: Section, limit: int) -> Iterator[str]:
    yield from _table(section.columns, section.rows[:limit])
    yield from _left_out(len(section.rows) - limit)


def _left_out(number: int) -> Iterator[str]:
    if number > 0:
        yield ""
        yield f"… and {number:,} more; `--format json` has them all."


def _table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield _row(escape(column.title) for column in columns)
    yield _row("---" if column.is_name else "---:" for column in columns)
    for row in rows:
        yield _row(_cell(cell, column) for cell, column in zip(row, columns, strict=True))


def _cell(text: str, column: Column) -> str:
    shorten = figures.shortened_left if column.is_path else figures.shortened
    fitted = _short(text, MAX_CELL, shorten)
    return code(fitted) if column.is_code and fitted != NOTHING else escape(fitted)


def _row(cells: Iterator[str] | Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
