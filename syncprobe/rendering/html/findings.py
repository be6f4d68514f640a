"""Findings by rule: what to do once, then every place it applies to."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.findings import RULES
from syncprobe.findings.explanations import PLAN_STEPS, explain
from syncprobe.rendering import figures
from syncprobe.rendering.answer.todo import instead_of, is_rewritten, source_of
from syncprobe.rendering.labels import has_plan

if TYPE_CHECKING:
    from syncprobe.findings.explanations import Explanation
    from syncprobe.profiles.model import Finding, Profile
    from syncprobe.rendering import SourceText

SHOWN_PLACES: Final = 20
"""In the page itself; the browser adds the rest when asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place a rule applies to, as shown."""

    place: str
    region: str
    per_step: str
    cost_us: str
    is_allowed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCard:
    """One rule and where it applies."""

    id: str
    title: str
    plan_step: str
    """Empty for programs that the plan is not for."""
    advice: str
    source: str
    """What the dearest line says; empty if it is not known."""
    before: str
    """Code as it is, or an example of it; empty for a rule that this version does not know."""
    after: str
    """The same, written so that there is no finding."""
    is_example: bool
    """Both are of the rule, not of the program."""
    per_step: str
    cost_us: str
    is_allowed: bool
    """Every place is excused in the source."""
    places: tuple[Place, ...]
    """Dearest first."""
    explanation: Explanation | None
    """None for a rule that this version does not know."""

    @property
    def shown(self) -> tuple[Place, ...]:
        """The dearest places."""
        return self.places[:SHOWN_PLACES]

    @property
    def hidden(self) -> tuple[Place, ...]:
        """The rest."""
        return self.places[SHOWN_PLACES:]


def rule_cards(profile: Profile, source: SourceText | None = None) -> tuple[RuleCard, ...]:
    """The rules that apply, dearest first; excused ones last."""
    by_rule: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in profile.findings:
        by_rule[finding.rule].append(finding)
    dearest_first = sorted(
        by_rule.values(),
        key=lambda group: (_is_allowed(group), -_cost(group), group[0].rule),
    )
    return tuple(_card(group, profile, source) for group in dearest_first)


def plan_step_text(step: int) -> str:
    """Number and name of a step of the plan."""
    return f"{step}, {PLAN_STEPS[step]}" if step in PLAN_STEPS else str(step)


def _card(group: list[Finding], profile: Profile, source: SourceText | None) -> RuleCard:
    ordered = sorted(group, key=lambda each: (each.is_allowed, -each.cost_us_modelled, each.site))
    first = ordered[0]
    return RuleCard(
        id=first.rule,
        title=first.title,
        plan_step=plan_step_text(first.plan_step) if has_plan(profile.run) else "",
        advice=first.advice,
        source=_source(first, source),
        before=_before(first),
        after=instead_of(first),
        is_example=not is_rewritten(first),
        per_step=figures.number(sum(each.per_step for each in group)),
        cost_us=figures.duration(_cost(group)),
        is_allowed=_is_allowed(group),
        places=tuple(_place(finding) for finding in ordered),
        explanation=explain(first.rule) if first.rule in RULES else None,
    )


def _source(finding: Finding, source: SourceText | None) -> str:
    """What the line says, unless it is quoted as what to write something else for."""
    line = source_of(finding, source)
    return "" if line == _before(finding).strip() else line


def _before(finding: Finding) -> str:
    if finding.before is not None:
        return finding.before
    return RULES[finding.rule].example if finding.rule in RULES else ""


def _place(finding: Finding) -> Place:
    return Place(
        place=figures.place(finding.site),
        region=finding.region,
        per_step=figures.number(finding.per_step),
        cost_us=figures.duration(finding.cost_us_modelled),
        is_allowed=finding.is_allowed,
    )


def _is_allowed(group: list[Finding]) -> bool:
    return all(finding.is_allowed for finding in group)


def _cost(group: list[Finding]) -> float:
    return sum(finding.cost_us_modelled for finding in group)
