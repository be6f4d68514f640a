"""What a verification found, as sentences and a table."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, Final

from syncprobe._version import __version__
from syncprobe.equivalence.verdict import steps_text
from syncprobe.rendering import Page, figures
from syncprobe.rendering.tables import NOTHING, Column, Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.equivalence.verdict import CaseVerdict, Verification

SCHEMA: Final = "syncprobe.verification/1"
COLUMNS: Final = (
    Column(title="agent", is_name=True),
    Column(title="pipeline", is_name=True),
    Column(title="patches", is_name=True),
    Column(title="mode", is_name=True),
    Column(title="seed"),
    Column(title="steps"),
    Column(title="compared"),
    Column(title="verdict", is_name=True),
    Column(title="worst, of its limit", is_name=True, minimum=12, is_optional=True),
    Column(title="s", is_optional=True),
)


def render_console(verification: Verification, page: Page | None = None) -> str:
    """For a terminal."""
    from syncprobe.rendering import console  # rich takes time to load

    return console.render_sections(
        headline(verification), (), sections(verification), page or Page()
    )


def render_json(verification: Verification, _page: Page | None = None) -> str:
    """All there is, for machines."""
    return json.dumps(to_json(verification), indent=1) + "\n"


def headline(verification: Verification) -> str:
    """The answer."""
    verdicts = verification.verdicts
    failed = sum(not verdict.is_equivalent for verdict in verdicts)
    if failed:
        return (
            f"NOT identical: {failed} of {figures.noun(len(verdicts), 'case')} differ from legacy"
        )
    return f"identical: {figures.noun(len(verdicts), 'case')} checked"


def sections(verification: Verification) -> Iterator[Section]:
    """All cases, then what differs."""
    yield Section(
        title="Cases",
        columns=COLUMNS,
        rows=tuple(_row(verdict) for verdict in verification.verdicts),
        notes=_meaning(verification),
        is_listing=True,
    )
    differences = tuple(line for verdict in verification.verdicts for line in _sentences(verdict))
    if differences:
        yield Section(title="What differs", notes=differences)


def case_line(verdict: CaseVerdict) -> str:
    """One case as a line of a log."""
    found = "identical" if verdict.is_equivalent else _count(verdict)
    return f"{verdict.case.label}: {found} ({verdict.seconds:.0f} s)"


def to_json(verification: Verification) -> dict[str, Any]:
    """The verification as plain data."""
    return {
        "schema": SCHEMA,
        "syncprobe": __version__,
        "equivalent": verification.is_equivalent,
        "cases": [_case_to_json(verdict) for verdict in verification.verdicts],
    }


def _case_to_json(verdict: CaseVerdict) -> dict[str, Any]:
    return {
        **dataclasses.asdict(verdict.case),
        "equivalent": verdict.is_equivalent,
        "compared": verdict.compared,
        "found": verdict.found,
        "differences": [
            {**dataclasses.asdict(difference), "sentence": sentence}
            for difference, sentence in zip(verdict.differences, verdict.sentences, strict=True)
        ],
        "deviations": [dataclasses.asdict(deviation) for deviation in verdict.deviations],
        "seconds": round(verdict.seconds, 3),
    }


def _row(verdict: CaseVerdict) -> tuple[str, ...]:
    case = verdict.case
    return (
        case.agent,
        case.pipeline if case.robots is None else f"{case.pipeline}, robots {case.robots}",
        steps_text(case.patches),
        case.mode,
        str(case.seed),
        str(case.steps),
        figures.number(verdict.compared),
        "identical" if verdict.is_equivalent else _count(verdict),
        _worst(verdict),
        figures.duration(verdict.seconds),
    )


def _worst(verdict: CaseVerdict) -> str:
    """The deviation that comes closest to its limit; nothing if all was equal to the last bit."""
    worst = max(verdict.deviations, key=lambda deviation: deviation.used, default=None)
    if worst is None or not worst.largest:
        return NOTHING
    if verdict.has_drifted:
        return f"{worst.what} {worst.largest:.1e} (beyond it, but not significantly)"
    return f"{worst.what} {worst.largest:.1e} ({figures.percent(worst.used)}, {worst.check})"


def _count(verdict: CaseVerdict) -> str:
    return "1 DIFFERENCE" if verdict.found == 1 else f"{verdict.found:,} DIFFERENCES"


def _sentences(verdict: CaseVerdict) -> Iterator[str]:
    yield from verdict.sentences
    more = verdict.found - len(verdict.sentences)
    if more > 0:
        yield f"{verdict.case.label}: and {more:,} more."


def _meaning(verification: Verification) -> tuple[str, ...]:
    modes = {verdict.case.mode for verdict in verification.verdicts}
    notes = []
    if "exact" in modes:
        notes.append("exact: every value of the run is equal to the last bit.")
    if "fast" in modes:
        notes.append(
            "fast: equal to the last bit too or, where one forward for all robots rounds differently, within "
            "limits: forced to take the legacy actions, left to itself, and in its rewards."
        )
    if "max" in modes:
        notes.append(
            "max: rewards of the same episodes, equal or different only by chance; nothing else is held."
        )
    return tuple(notes)
