"""Whether a profile keeps to a budget and, if not, which lines make up what is too much."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from syncprobe.budgets.amounts import amount_of, amounts, excused_by_findings, figure_of, is_excused
from syncprobe.budgets.budget import Limit
from syncprobe.budgets.judgement import Judgement, Reading, SiteShare, SpeedReading
from syncprobe.comparison.growth import pairs
from syncprobe.profiles.model import SyncClass
from syncprobe.profiles.quantities import BYTES, RATES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from syncprobe.budgets.amounts import Excused
    from syncprobe.budgets.budget import Budget
    from syncprobe.comparison.ratio import Speedup
    from syncprobe.events import CallSite
    from syncprobe.profiles.model import Finding, Profile, Site

WORST_FIRST: Final = (SyncClass.AVOIDABLE, SyncClass.DEFERRABLE, SyncClass.NEEDED, None)


def judge(
    profile: Profile,
    budget: Budget,
    reference: Profile | None = None,
    allowed: Excused | None = None,
    speedup: Speedup | None = None,
) -> Judgement:
    """Hold a profile to a budget.

    Args:
        profile: Of a run that is what the budget is about, complete and not perturbed.
        budget: The limits.
        reference: The committed profile: what growth is measured against, and what tells new lines from old.
        allowed: What the source excuses; by default what the findings of the profile say.
        speedup: Measured, over the variant that the budget names.
    """
    allowed = excused_by_findings(profile) if allowed is None else allowed
    limits = (*budget.limits, *_growth_limits(budget, reference))
    speed = None
    if budget.min_speedup is not None:
        speed = SpeedReading(at_least=budget.min_speedup, over=budget.over, speedup=speedup)
    return Judgement(
        budget=budget,
        run=profile.run,
        readings=tuple(_reading(profile, limit, reference, allowed) for limit in limits),
        speed=speed,
        excused=_excused(profile, allowed),
        warnings=tuple(_warnings(profile, budget, reference)),
    )


def lines_behind(
    profile: Profile,
    figure: str,
    region: str | None = None,
    reference: Profile | None = None,
    allowed: Excused | None = None,
    *,
    path: str | None = None,
    function: str | None = None,
) -> tuple[SiteShare, ...]:
    """The sites that make up a figure, worst first and excused ones last.

    Compared with a reference, what grew or appeared comes first. Otherwise avoidable syncs come before
    deferrable and needed ones, and frequent ones before rare ones.

    Args:
        profile: Where to look.
        figure: One of `budget.FIGURES`.
        region: Only this region.
        reference: An earlier profile of the same program.
        allowed: What the source excuses; by default what the findings of the profile say.
        path: Only files that match this pattern.
        function: Only functions that match this pattern.
    """
    allowed = excused_by_findings(profile) if allowed is None else allowed
    limit = Limit(figure=figure, at_most=0.0, region=region, path=path, function=function)
    findings = _findings(profile)
    shares = [
        replace(_share(site, amount, findings, is_excused(site, allowed)), is_bytes=figure in BYTES)
        for site, amount in amounts(profile, limit)
    ]
    if reference is not None:
        earlier = _earlier_amounts(profile, figure, reference)
        shares = [replace(share, before=earlier.get(_identity(share), 0.0)) for share in shares]
    return tuple(sorted(shares, key=_badness))


def _reading(
    profile: Profile, limit: Limit, reference: Profile | None, allowed: Excused
) -> Reading:
    reading = Reading(limit=limit, value=figure_of(profile, limit, allowed))
    if reading.holds:
        return reading
    lines = lines_behind(
        profile,
        limit.figure,
        limit.region,
        reference,
        allowed,
        path=limit.path,
        function=limit.function,
    )
    return replace(reading, lines=lines)


def _growth_limits(budget: Budget, reference: Profile | None) -> Iterator[Limit]:
    if budget.max_regression is None or reference is None:
        return
    excused = excused_by_findings(reference)
    for figure in RATES:
        committed = figure_of(reference, Limit(figure=figure, at_most=0.0), excused)
        at_most = committed * (1.0 + budget.max_regression)
        yield Limit(figure=figure, at_most=at_most, committed=committed)


def _excused(profile: Profile, allowed: Excused) -> tuple[SiteShare, ...]:
    findings = _findings(profile)
    return tuple(
        _share(site, site.per_step, findings, is_allowed=True)
        for site in profile.sites
        if site.per_step > 0 and is_excused(site, allowed)
    )


def _warnings(profile: Profile, budget: Budget, reference: Profile | None) -> Iterator[str]:
    if not any(profile.counts.values()):
        yield 'Nothing used the device, so there is nothing to limit. Did it ask for device="cuda"?'
    for region in dict.fromkeys(limit.region for limit in budget.limits):
        if region is not None and region not in profile.regions:
            known = ", ".join(profile.regions) or "none"
            yield f"The run has no region {region!r}, so it counts 0 there; its regions: {known}."
    for limit in budget.limits:
        anything = (amounts(profile, replace(limit, figure=figure)) for figure in RATES)
        if limit.path is not None and not any(any(found) for found in anything):
            where = limit.path if limit.function is None else f"{limit.path}, {limit.function}"
            yield f"No line of {where} did anything, so it counts 0 there."
    if reference is not None and reference.run.torch != profile.run.torch:
        yield (
            f"This is torch {profile.run.torch}; the committed profile was made with "
            f"torch {reference.run.torch}."
        )


def _earlier_amounts(
    profile: Profile, figure: str, reference: Profile
) -> dict[tuple[CallSite, str, str, str], float]:
    """What the sites of a profile added to the figure in the reference."""
    found: dict[tuple[CallSite, str, str, str], float] = {}
    for pair in pairs(reference, profile):
        if pair.before is not None and pair.after is not None:
            found[_identity(pair.after)] = amount_of(pair.before, figure, reference.run.steps)
    return found


def _identity(place: Site | SiteShare) -> tuple[CallSite, str, str, str]:
    return (place.site, place.kind, place.operation, place.region)


def _findings(profile: Profile) -> dict[tuple[CallSite, str, str], Finding]:
    return {(found.site, found.rule, found.region): found for found in profile.findings}


def _share(
    site: Site,
    amount: float,
    findings: Mapping[tuple[CallSite, str, str], Finding],
    is_allowed: bool,
) -> SiteShare:
    finding = findings.get((site.site, site.rule or "", site.region))
    return SiteShare(
        site=site.site,
        kind=site.kind,
        operation=site.operation,
        region=site.region,
        per_step=amount,
        sync_class=_class_of(site),
        rule=site.rule,
        plan_step=site.plan_step,
        title=finding.title if finding else "",
        advice=finding.advice if finding else "",
        callers=tuple(dict.fromkeys(each.stack[0] for each in site.callers if each.stack)),
        is_allowed=is_allowed,
    )


def _class_of(site: Site) -> SyncClass | None:
    if site.is_blocking and site.per_step <= site.needed_per_step:
        return SyncClass.NEEDED
    return site.sync_class


def _badness(share: SiteShare) -> tuple[object, ...]:
    return (
        share.is_allowed,
        -share.growth,
        WORST_FIRST.index(share.sync_class),
        -share.per_step,
        share.site,
        share.kind,
        share.operation,
        share.region,
    )
