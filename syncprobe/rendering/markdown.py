"""A profile for a pull-request comment: the same words as on the console, never over its limit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from syncprobe.rendering import details, figures
from syncprobe.rendering.details import LINE, Column, Section
from syncprobe.rendering.summary import QUESTIONS, line_sentence, summarise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from syncprobe.analysis.model import Profile
    from syncprobe.rendering import Page
    from syncprobe.rendering.summary import Summary

MAX_BYTES: Final = 60_000
"""GitHub refuses comments over 65,536; a few words around the report must fit too."""
ROW_LIMITS: Final = (50, 20, 8, 3, 0)
MAX_CELL: Final = 120
MAX_PARAGRAPH: Final = 1_000
_CUT: Final = "\n\n_Cut: the rest does not fit in a comment. `--format json` has it all._\n"
# An underscore inside a word is no emphasis, and names are full of them.
_SPECIAL: Final = re.compile(r"[&<>|`*\[\]\\~#@$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_PLAIN_IN_CODE: Final = re.compile(r"[^`|\\]+")


def render(profiles: Sequence[Profile], _page: Page) -> str:
    """The profiles one after the other, with as many rows as fit."""
    for limit in ROW_LIMITS:
        text = "\n---\n\n".join("\n".join(_document(profile, limit)) for profile in profiles)
        if len(text.encode("utf-8", "replace")) <= MAX_BYTES:
            return text
    kept = text.encode("utf-8", "replace")[: MAX_BYTES - len(_CUT)].decode("utf-8", "ignore")
    return kept.rpartition("\n")[0] + _CUT


def render_sections(title: str, paragraphs: Sequence[str], sections: Iterable[Section]) -> str:
    """Anything that comes as sections, with as many rows as fit; the first is open."""
    opened, *others = sections
    for limit in ROW_LIMITS:
        lines = [f"## syncprobe: {escape(figures.shortened(title, MAX_PARAGRAPH))}", ""]
        lines += [f"- {escape(figures.shortened(text, MAX_PARAGRAPH))}" for text in paragraphs]
        lines += ["", *_table(opened.columns, opened.rows)]
        for section in others:
            lines += ["", *_section(section, limit)]
        text = "\n".join([*lines, ""])
        if len(text.encode("utf-8", "replace")) <= MAX_BYTES:
            break
    return text


def escape(text: str) -> str:
    """Text that shows as itself, whatever is in it."""
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", figures.printable(text))


def code(text: str) -> str:
    """A name as code, or escaped if code cannot hold it inside a table."""
    shown = figures.printable(text)
    if _PLAIN_IN_CODE.fullmatch(shown) and shown == shown.rstrip():
        return f"`{shown}`"
    return escape(text)


def _document(profile: Profile, limit: int) -> Iterator[str]:
    yield from _first_screen(summarise(profile))
    for section in details.sections(profile):
        yield ""
        yield from _section(section, limit)
    yield ""


def _first_screen(summary: Summary) -> Iterator[str]:
    yield f"## syncprobe: {escape(figures.shortened(summary.title, MAX_PARAGRAPH))}"
    for warning in summary.warnings:
        yield ""
        yield f"**{escape(figures.shortened(warning, MAX_PARAGRAPH))}**"
    yield ""
    yield f"### 1. {QUESTIONS[0]}"
    yield ""
    yield f"**{escape(summary.verdict)}**"
    yield ""
    yield from (
        f"- {escape(figures.shortened(reason, MAX_PARAGRAPH))}" for reason in summary.reasons
    )
    yield ""
    yield f"### 2. {QUESTIONS[1]}"
    yield ""
    yield from _costly_lines(summary)
    yield ""
    yield f"### 3. {QUESTIONS[2]}"
    yield ""
    yield f"**{escape(figures.shortened(summary.first.headline, MAX_PARAGRAPH))}**"
    for text in filter(None, (summary.first.advice, summary.first.next_step)):
        yield ""
        yield escape(figures.shortened(text, MAX_PARAGRAPH))


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
            Column(title="what, how often", is_name=True),
        ),
        [
            (
                figures.duration(line.cost_us),
                "" if line.share is None else figures.percent(line.share),
                figures.place(line.site),
                line_sentence(line),
            )
            for line in summary.lines
        ],
    )


def _section(section: Section, limit: int) -> Iterator[str]:
    yield "<details>"
    yield f"<summary>{escape(section.title)}</summary>"
    if section.rows:
        yield ""
        yield from _table(section.columns, section.rows[:limit])
        left_out = len(section.rows) - limit
        if left_out > 0:
            yield ""
            yield f"… and {left_out:,} more; `--format json` has them all."
    if section.notes:
        yield ""
        shown = section.notes[: max(limit, 3)]
        yield from (f"- {escape(figures.shortened(note, MAX_PARAGRAPH))}" for note in shown)
    yield ""
    yield "</details>"


def _table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield _row(escape(column.title) for column in columns)
    yield _row("---" if column.is_name else "---:" for column in columns)
    for row in rows:
        yield _row(_cell(cell, column) for cell, column in zip(row, columns, strict=True))


def _cell(text: str, column: Column) -> str:
    shorten = figures.shortened_left if column.is_path else figures.shortened
    fitted = shorten(text, MAX_CELL)
    return code(fitted) if column.is_code and fitted != details.NOTHING else escape(fitted)


def _row(cells: Iterator[str] | Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
