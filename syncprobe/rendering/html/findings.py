"""Findings by rule: what to do once, then every place it applies to."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.findings import RULES
from syncprobe.findings.explain import PLAN_STEPS, explain
from syncprobe.rendering import figures

if TYPE_CHECKING:
    from syncprobe.analysis.model import Finding, Profile
    from syncprobe.findings.explain import Explanation

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
    advice: str
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


def rule_cards(profile: Profile) -> tuple[RuleCard, ...]:
    """The rules that apply, dearest first; excused ones last."""
    by_rule: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in profile.findings:
        by_rule[finding.rule].append(finding)
    dearest_first = sorted(
        by_rule.values(),
        key=lambda group: (_is_allowed(group), -_cost(group), group[0].rule),
    )
    return tuple(_card(group) for group in dearest_first)


def plan_step_text(step: int) -> str:
    """Number and name of a step of the plan."""
    return f"{step}, {PLAN_STEPS[step]}" if step in PLAN_STEPS else str(step)


def _card(group: list[Finding]) -> RuleCard:
    ordered = sorted(group, key=lambda each: (each.is_allowed, -each.cost_us_modelled, each.site))
    first = ordered[0]
    return RuleCard(
        id=first.rule,
        title=first.title,
        plan_step=plan_step_text(first.plan_step),
        advice=first.advice,
        per_step=figures.number(sum(each.per_step for each in group)),
        cost_us=figures.duration(_cost(group)),
        is_allowed=_is_allowed(group),
        places=tuple(_place(finding) for finding in ordered),
        explanation=explain(first.rule) if first.rule in RULES else None,
    )


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
