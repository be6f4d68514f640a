"""Whether two programs train the same, in words and as plain data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from syncprobe._version import __version__
from syncprobe.rendering import Page, figures
from syncprobe.rendering.tables import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.comparison.programs.verifying import ProgramVerification, SeedVerdict

SCHEMA: Final = "syncprobe.program-verification/1"


def render_console(verification: ProgramVerification, page: Page | None = None) -> str:
    """For a terminal."""
    from syncprobe.rendering import console  # rich takes time to load

    return console.render_sections(
        headline(verification), (), sections(verification), page or Page()
    )


def render_json(verification: ProgramVerification, _page: Page | None = None) -> str:
    """All there is, for machines."""
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "syncprobe": __version__,
        "first": verification.first,
        "second": verification.second,
        "equivalent": verification.is_equivalent,
        "seeds": [
            {
                "seed": each.seed,
                "equivalent": each.verdict.is_equivalent,
                "summary": each.verdict.summary,
                "differences": list(each.verdict.differences),
                "remarks": list(each.verdict.remarks),
            }
            for each in verification.seeds
        ],
    }
    return json.dumps(data, indent=1) + "\n"


def headline(verification: ProgramVerification) -> str:
    """The answer."""
    names = f"{verification.first} and {verification.second}"
    seeds = figures.noun(len(verification.seeds), "seed")
    if verification.is_equivalent is None:
        return f"cannot tell whether {names} train the same"
    if verification.is_equivalent:
        return f"{names} train the same: {seeds} checked"
    return f"{names} do NOT train the same"


def sections(verification: ProgramVerification) -> Iterator[Section]:
    """What was found under each seed."""
    yield Section(title="Seeds", notes=tuple(seed_line(each) for each in verification.seeds))
    remarks = dict.fromkeys(text for each in verification.seeds for text in each.verdict.remarks)
    if remarks:
        yield Section(title="Remarks", notes=tuple(remarks))


def seed_line(found: SeedVerdict) -> str:
    """One seed as a line of a log."""
    name = "own seed" if found.seed is None else f"seed {found.seed}"
    return f"{name}: {found.verdict.summary}."
