"""Budgets and what they are held to, as sentences and tables that any format can lay out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.budgets.budget import PLURALS
from syncprobe.profiles.model import SyncClass
from syncprobe.profiles.quantities import BYTES
from syncprobe.profiles.titles import title_of
from syncprobe.rendering import Page, figures
from syncprobe.rendering.labels import has_plan
from syncprobe.rendering.tables import Column, Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.budgets.budget import Limit
    from syncprobe.budgets.judgement import GateResult, Judgement, Reading, SiteShare, SpeedReading

MOST_LINES: Final = 10
MOST_CALLERS: Final = 3
NAMES: Final = {
    **{figure: plural.replace("_", " ") for plural, figure in PLURALS.items()},
    **{figure: figure.replace("_", " ") for figure in BYTES},
    **{str(each): f"{each} syncs" for each in SyncClass},
}
FOUND: Final = (Column(title="found"), Column(title="limit"), Column(title="", is_name=True))


def render_console(result: GateResult, page: Page | None = None) -> str:
    """For a terminal: every budget with its figures, then what is too much and where."""
    from syncprobe.rendering import console  # rich takes time to load

    sections = [budget_section(judgement) for judgement in result.judgements]
    sections += [failure_section(judgement) for judgement in result.failed]
    sections += [
        Section(title=f"NOT JUDGED {each.budget}", notes=(each.reason,)) for each in result.unjudged
    ]
    return console.render_sections(headline(result), (), sections, page or Page())


def headline(result: GateResult) -> str:
    """How many budgets hold."""
    total = len(result.judgements) + len(result.unjudged)
    held = len(result.judgements) - len(result.failed)
    parts = [f"gate: {held} of {figures.noun(total, 'budget')} hold{'s' if total == 1 else ''}"]
    if result.failed:
        parts.append(f"{len(result.failed)} failed")
    if result.unjudged:
        parts.append(f"{len(result.unjudged)} could not be judged")
    return ", ".join(parts)


def budget_section(judgement: Judgement) -> Section:
    """One budget with its figures and limits."""
    state = "ok" if judgement.holds else "FAIL"
    figure = Column(title=f"per {judgement.rate_noun}", is_name=True, minimum=24)
    return Section(
        title=f"{state} {judgement.budget.name}: {title_of(judgement.run)}",
        columns=(figure, *FOUND),
        rows=tuple(rows(judgement)),
        notes=(*judgement.warnings, *_excused(judgement)),
    )


def rows(judgement: Judgement) -> Iterator[tuple[str, str, str, str]]:
    """Figure, what it is, what it may be, and whether that is all right."""
    for reading in judgement.readings:
        if not reading.limit.is_regression or not reading.holds:
            found, limit = (figures.exact(each) for each in (reading.value, reading.limit.at_most))
            state = "ok" if reading.holds else "FAIL"
            growth = "growth of " if reading.limit.is_regression else ""
            yield f"{growth}{limit_name(reading.limit)}", found, limit, state
    compared = [reading for reading in judgement.readings if reading.limit.is_regression]
    if compared and all(reading.holds for reading in compared):
        allowed = figures.percent(judgement.budget.max_regression or 0.0)
        yield f"growth against {judgement.budget.against}", "none", allowed, "ok"
    if judgement.speed is not None:
        yield _speed_row(judgement.speed)


def failure_section(judgement: Judgement) -> Section:
    """Every limit that does not hold, with the lines that make up the figure."""
    groups: dict[Sequence[SiteShare], list[str]] = {}
    for reading in judgement.breaches:
        groups.setdefault(telling_lines(reading), []).append(breach_sentence(judgement, reading))
    notes: list[str] = []
    advised: set[str] = set()
    for shown, sentences in groups.items():
        notes += [f"{sentence}{':' if shown else '.'}" for sentence in sentences]
        notes += [f"  {_advised(share, judgement, advised)}" for share in shown[:MOST_LINES]]
        if len(shown) > MOST_LINES:
            notes.append(f"  … and {len(shown) - MOST_LINES:,} more; --json has them all")
    if judgement.speed is not None and judgement.speed.is_missed:
        notes.append(f"{speed_sentence(judgement.speed)}.")
    return Section(title=f"FAIL {judgement.budget.name}", notes=tuple(notes))


def breach_sentence(judgement: Judgement, reading: Reading) -> str:
    """What is too much, by how much."""
    limit, noun = reading.limit, judgement.rate_noun
    found = f"{limit_name(limit)}: {figures.exact(reading.value)} per {noun}"
    if limit.committed is None:
        return f"{found}, at most {figures.exact(limit.at_most)} allowed"
    allowed = figures.percent(judgement.budget.max_regression or 0.0)
    return (
        f"{found}, up from {figures.exact(limit.committed)} in {judgement.budget.against}; "
        f"{allowed} growth allowed"
    )


def telling_lines(reading: Reading) -> tuple[SiteShare, ...]:
    """The lines that explain a breach: of growth, those that grew; nothing that is excused."""
    counted = tuple(share for share in reading.lines if not share.is_allowed)
    return grown_lines(reading) or counted if reading.limit.is_regression else counted


def grown_lines(reading: Reading) -> tuple[SiteShare, ...]:
    """The lines that add more to a figure than they did in the committed profile."""
    return tuple(share for share in reading.lines if share.growth and not share.is_allowed)


def line_sentence(share: SiteShare, noun: str) -> str:
    """One line of source and what it does too often."""
    rate = f"{figures.exact(share.per_step)}{' bytes' if share.is_bytes else ''} per {noun}"
    if share.before == 0:
        rate += ", new"
    elif share.growth:
        rate += f", was {figures.exact(share.before or 0.0)}"
    rule = f" [{share.rule}]" if share.rule else ""
    place = f"{figures.place(share.site)} {share.site.function}".rstrip()
    return f"{place}: {share.kind} {share.operation}, {rate}{rule}{_callers(share)}"


def speed_sentence(speed: SpeedReading) -> str:
    """What a timed comparison gave."""
    if speed.speedup is None:
        return f"speedup over {speed.over}: not measured, because the profile was only read"
    ratio = speed.speedup.ratio
    interval = f"{figures.speedup(ratio.low)} to {figures.speedup(ratio.high)}"
    if speed.holds is None:
        return (
            f"speedup over {speed.over}, measured: inconclusive: {interval} around "
            f"{speed.at_least:g}x after {figures.noun(ratio.rounds, 'round')}"
        )
    return (
        f"speedup over {speed.over}, measured: {figures.speedup(ratio.median)} (95% interval "
        f"{interval}, {figures.noun(ratio.rounds, 'round')}), at least {speed.at_least:g}x asked for"
    )


def limit_name(limit: Limit) -> str:
    """What is limited, and where."""
    name = NAMES.get(limit.figure, limit.figure)
    if limit.region is not None:
        name += f" in region {limit.region}"
    if limit.path is not None:
        name += f" in {limit.path}"
    return name if limit.function is None else f"{name}, {limit.function}"


def _callers(share: SiteShare) -> str:
    """Who is behind a line that serves several: the line alone would not say which one is too much."""
    if len(share.callers) < 2:
        return ""
    named = ", ".join(figures.place(site) for site in share.callers[:MOST_CALLERS])
    more = len(share.callers) - MOST_CALLERS
    return f", called from {named}{f' and {more} more' if more > 0 else ''}"


def _speed_row(speed: SpeedReading) -> tuple[str, str, str, str]:
    limit = f"{speed.at_least:g}x"
    if speed.speedup is None:
        return f"speedup over {speed.over}", "-", limit, "not measured"
    state = {True: "ok", False: "FAIL", None: "inconclusive"}[speed.holds]
    found = figures.speedup(speed.speedup.ratio.median)
    return f"speedup over {speed.over}, measured", found, limit, state


def _excused(judgement: Judgement) -> Iterator[str]:
    if judgement.excused:
        places = (line_sentence(share, judgement.rate_noun) for share in judgement.excused)
        yield f"Excused in the source, so not counted: {'; '.join(places)}."


def _advised(share: SiteShare, judgement: Judgement, advised: set[str]) -> str:
    text = line_sentence(share, judgement.rate_noun)
    if not share.advice or share.rule is None or share.rule in advised:
        return text
    advised.add(share.rule)
    has_step = share.plan_step and has_plan(judgement.run)
    step = f" (plan step {share.plan_step})" if has_step else ""
    return f"{text}. {share.advice}{step}"
