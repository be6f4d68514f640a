"""What a gate has to say about single lines, for those who show it beside the source."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Final

from syncprobe.findings import RULES, explain
from syncprobe.rendering import sarif
from syncprobe.rendering.gates.result import (
    breach_sentence,
    grown_lines,
    line_sentence,
    speed_sentence,
    telling_lines,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.budgets.judgement import GateResult, Judgement, SiteShare

OVER_BUDGET: Final = "SP-BUDGET"
"""Stands for a rule where a line has none: it does nothing wrong, there is only too much of it."""
OVER_BUDGET_HELP: Final = (
    "The line adds to a figure that a budget in pyproject.toml limits. Do it less often, raise the limit, "
    "or run `syncprobe gate --update` if the budget compares with a committed profile."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One thing to say, about a line or about no line in particular."""

    title: str
    message: str
    share: SiteShare | None = None


def remarks(result: GateResult) -> tuple[Remark, ...]:
    """Every line behind a breach once, worst first, each breach getting a turn; then what has no line."""
    turns = zip_longest(
        *(
            _breach_remarks(judgement, place)
            for judgement in result.failed
            for place in range(len(judgement.breaches))
        )
    )
    first: dict[tuple[str, int], Remark] = {}
    for remark in chain.from_iterable(turns):
        if remark is not None and remark.share is not None:
            site = remark.share.site
            first.setdefault((site.path, site.line), remark)
    return (*first.values(), *_without_line(result))


def sarif_results(result: GateResult) -> list[sarif.Result]:
    """The lines behind breaches as errors, and what the source excuses as suppressed ones."""
    found = [
        _sarif_result(remark.share, remark.message)
        for remark in remarks(result)
        if remark.share is not None
    ]
    for judgement in result.judgements:
        found += [
            _sarif_result(share, f"Excused: {line_sentence(share, judgement.rate_noun)}")
            for share in judgement.excused
        ]
    return found


def _breach_remarks(judgement: Judgement, place: int) -> Iterator[Remark]:
    reading = judgement.breaches[place]
    # Old lines are not what a change did wrong, unless there are no others.
    for share in grown_lines(reading) or telling_lines(reading):
        message = (
            f"{breach_sentence(judgement, reading)}. "
            f"{line_sentence(share, judgement.rate_noun)}. {share.advice}"
        )
        title = f"syncprobe budget {judgement.budget.name}"
        yield Remark(title=title, message=message.rstrip(), share=share)


def _without_line(result: GateResult) -> Iterator[Remark]:
    for judgement in result.failed:
        title = f"syncprobe budget {judgement.budget.name}"
        for reading in judgement.breaches:
            if not telling_lines(reading):
                yield Remark(title=title, message=f"{breach_sentence(judgement, reading)}.")
        if judgement.speed is not None and judgement.speed.is_missed:
            yield Remark(title=title, message=f"{speed_sentence(judgement.speed)}.")
    for each in result.unjudged:
        yield Remark(title=f"syncprobe budget {each.budget}", message=f"Not judged: {each.reason}")


def _sarif_result(share: SiteShare, message: str) -> sarif.Result:
    # A profile that a later version wrote may name rules that this one does not know.
    rule = RULES[share.rule] if share.rule is not None and share.rule in RULES else None
    return sarif.Result(
        rule=share.rule or OVER_BUDGET,
        rule_title=share.rule or "A budget is exceeded" if rule is None else rule.title,
        rule_help=OVER_BUDGET_HELP if rule is None else explain(rule.id).markdown,
        rule_description="" if rule is None else rule.flags,
        level="note" if share.is_allowed else "error",
        message=message,
        path=share.site.path,
        line=share.site.line,
        function=share.site.function,
        is_allowed=share.is_allowed,
    )
