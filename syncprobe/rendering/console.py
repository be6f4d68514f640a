"""A profile for a terminal: the answer on one screen, the evidence above it for those who ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.rendering import details
from syncprobe.rendering.answer.first_screen import MOST_LINES, write_first_screen
from syncprobe.rendering.answer.summary import summarise
from syncprobe.rendering.listings import listings
from syncprobe.rendering.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from syncprobe.profiles.model import Profile
    from syncprobe.rendering import Page
    from syncprobe.rendering.tables import Section


MOST_ROWS: Final = 5
"""Of a table on the first screen."""


def render(profiles: Sequence[Profile], page: Page) -> str:
    """The profiles one after the other, each ending in its verdict: what comes last stays on the screen."""
    sheet = Sheet(page)
    for place, profile in enumerate(profiles):
        if place:
            sheet.blank()
        summary = summarise(profile, page.source)
        # Whoever had lines timed wants to see them.
        evidence = details.sections(profile) if page.is_full else listings(profile)
        if page.is_full or profile.lines:
            sheet.paragraph(f"syncprobe: {summary.title}", style="bold", indent=0)
            for section in evidence:
                sheet.section(section)
            sheet.blank()
        sheet.append(write_first_screen(lambda: Sheet(page), summary))
    return sheet.text()


def render_sections(
    title: str, paragraphs: Sequence[str], sections: Iterable[Section], page: Page
) -> str:
    """Anything that comes as sections, laid out as those of a profile are."""
    sheet = Sheet(page)
    sheet.line(f"syncprobe: {title}", style="bold")
    for paragraph in paragraphs:
        sheet.paragraph(paragraph, indent=0)
    for section in sections:
        sheet.section(section)
    return sheet.text()


def render_answer(
    title: str,
    sections: Callable[[int], Iterable[Section]],
    answer: Sequence[str],
    page: Page,
) -> str:
    """Evidence, then the answer, on one screen: tables get as many rows as there is room for.

    Args:
        title: What this is about.
        sections: The evidence, in tables of at most so many rows.
        answer: Sentences; the last one stays on the screen.
        page: Where it will be read.
    """
    for most_rows in range(MOST_ROWS, 0, -1):
        sheet = Sheet(page)
        sheet.paragraph(f"syncprobe: {title}", style="bold", indent=0)
        for section in sections(most_rows):
            sheet.section(section)
        sheet.blank()
        for sentence in answer[:-1]:
            sheet.paragraph(sentence, indent=0)
        sheet.paragraph(answer[-1], style="bold cyan", indent=0)
        if sheet.height <= MOST_LINES:
            break
    return sheet.text()
