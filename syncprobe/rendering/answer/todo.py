"""What should be done first: one thing for each of the rules that cost most, with what to write instead."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.findings import RULES
from syncprobe.rendering import figures
from syncprobe.rendering.labels import modelled_label

if TYPE_CHECKING:
    from syncprobe.events import CallSite
    from syncprobe.profiles.model import Finding, Profile
    from syncprobe.rendering import SourceText
    from syncprobe.rendering.answer.worth import Worth

MOST: Final = 3
HOST_RULES: Final = "SP6"
"""The family of rules about host code, which the device has no part in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToDo:
    """One thing to do."""

    place: str
    """The line that costs most, or the region."""
    title: str
    """What is wrong there."""
    cost: str
    share: str
    """Of the modelled step; empty where no time was modelled."""
    action: str
    """What to do about it."""
    rule: str = ""
    """Empty for what is not a finding."""
    source: str = ""
    """What the line says now; empty if it is not known."""
    instead: str = ""
    """What to write there, or code like it; empty if there is none to show."""
    is_rewritten: bool = False
    """It is the line itself, written differently, not an example of the rule."""

    @property
    def headline(self) -> str:
        """Where, what and how much, as one sentence."""
        return f"{self._where}, {self.cost}."

    @property
    def brief(self) -> str:
        """Where, what, and its share of the step."""
        return f"{self._where}, {self.share}." if self.share else f"{self._where}."

    @property
    def gist(self) -> str:
        """What to do, in one sentence."""
        first, stop, _ = self.action.partition(". ")
        return f"{first}{stop.rstrip()}"

    @property
    def _where(self) -> str:
        return f"{self.place}: {self.title}" + (f" ({self.rule})" if self.rule else "")


def to_dos(
    profile: Profile, worth: Worth | None, source: SourceText | None = None
) -> tuple[ToDo, ...]:
    """The three things that are worth most; what the source excuses is left out."""
    by_rule: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in profile.findings:
        if not finding.is_allowed:
            by_rule[finding.rule].append(finding)
    groups = sorted(by_rule.values(), key=lambda group: (-_cost_us(group), group[0].rule))
    found = [_from_findings(profile, group, source) for group in groups]
    host = None if worth is None else _host_code(profile, worth)
    if host is not None and not (found and found[0].rule.startswith(HOST_RULES)):
        found.insert(0, host)
    return tuple(found[:MOST])


def source_of(finding: Finding, source: SourceText | None) -> str:
    """What the line of a finding says: when it was recorded if that is known, else now."""
    if finding.source is not None:
        return finding.source.strip()
    return "" if source is None else source(finding.site)


def instead_of(finding: Finding) -> str:
    """What to write: the finding's own lines, or the example of its rule."""
    if finding.after is not None:
        return finding.after
    return RULES[finding.rule].instead if finding.rule in RULES else ""


def is_rewritten(finding: Finding) -> bool:
    """What to write is the finding's own statement, not the example of its rule."""
    example = RULES[finding.rule].example if finding.rule in RULES else ""
    # A region has no statement of its own.
    return finding.after is not None and finding.before != example and finding.site.line > 0


def _cost_us(group: list[Finding]) -> float:
    return sum(finding.cost_us_modelled for finding in group)


def _from_findings(profile: Profile, group: list[Finding], source: SourceText | None) -> ToDo:
    """One rule with the line where it costs most."""
    worst = max(group, key=lambda finding: finding.cost_us_modelled)
    more = len({(finding.site.path, finding.site.line) for finding in group}) - 1
    others = f" and {figures.noun(more, 'more line')}" if more else ""
    return ToDo(
        place=f"{_place(profile, worst)}{others}",
        title=worst.title,
        cost=_cost(profile, group),
        share=_share(profile, _cost_us(group)),
        action=worst.advice,
        rule=worst.rule,
        source=source_of(worst, source),
        instead=instead_of(worst),
        is_rewritten=is_rewritten(worst),
    )


def _place(profile: Profile, finding: Finding) -> str:
    """The line of a finding; for one about a whole region, the hottest line of the program if that is known."""
    if finding.site.line:
        return _called(profile, finding.site)
    hottest = next(iter(profile.hot_spots), None)
    region = f"region {finding.region}"
    if hottest is None:
        return region
    name = hottest.site.function.rpartition(".")[2]
    return f"{figures.place(hottest.site)} {name}".rstrip() + f", {region}"


def _called(profile: Profile, line: CallSite) -> str:
    """A line; one of a library after the user's own line that reaches it most often, in the steps if at all."""
    rates: defaultdict[CallSite, float] = defaultdict(float)
    counts: Counter[CallSite] = Counter()
    for site in profile.sites:
        if (site.site.path, site.site.line) == (line.path, line.line):
            for way in site.own:
                rates[way.site] += way.per_step
                counts[way.site] += way.count
    if not rates:
        return figures.place(line)
    own = min(rates, key=lambda own: (-rates[own], -counts[own], own))
    return f"{figures.place(own)} (in {figures.place(line)})"


def _cost(profile: Profile, group: list[Finding]) -> str:
    rate = figures.number(sum(finding.per_step for finding in group))
    text = f"{rate} per {profile.rate_noun}"
    cost_us = _cost_us(group)
    share = _share(profile, cost_us)
    cost = f"{figures.duration(cost_us)} us {modelled_label(profile)}"
    return f"{text}, {cost}, {share}" if share else text


def _share(profile: Profile, cost_us: float) -> str:
    step_us = (profile.time.modelled_ms_per_step or 0.0) * 1e3
    return figures.percent(min(cost_us / step_us, 1.0)) if step_us > 0 else ""


def _host_code(profile: Profile, worth: Worth) -> ToDo | None:
    """What to do where the device is not what the program waits for."""
    if not worth.is_host_bound:
        return None
    region, share = next(iter(worth.host.items()))
    spot = next(iter(profile.hot_spots), None)
    step_us = (profile.time.modelled_ms_per_step or 0.0) * 1e3
    return ToDo(
        place=f"region {region}" if spot is None else figures.place(spot.site),
        title=f"host code takes most of the {profile.rate_noun}"
        if spot is None
        else f"most of the host's own time is in {spot.site.function}",
        cost=f"{figures.duration(share * step_us)} us {modelled_label(profile)} in region {region}, "
        f"{figures.percent(share)}",
        share=figures.percent(share),
        action="See which functions that is with --lines, which runs the program again, and vectorise or batch them."
        if spot is None
        else "Vectorise or batch what runs there; the GPU is not what this program waits for.",
    )
