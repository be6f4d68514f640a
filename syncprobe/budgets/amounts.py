"""What each site of a profile adds to a figure, and what is excused from it."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from syncprobe.events import TO_HOST, EventKind
from syncprobe.findings.source import Excuse
from syncprobe.profiles.model import SyncClass
from syncprobe.profiles.quantities import BYTES, RATES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.budgets.budget import Limit
    from syncprobe.findings.source import SourceLines
    from syncprobe.profiles.model import Profile, Site

Excused = frozenset[tuple[str, int, str]]
"""Path, line and rule of what the source excuses."""


def excused_by_findings(profile: Profile) -> Excused:
    """What the source excused when the profile was made, as far as it is a finding."""
    return frozenset(
        (finding.site.path, finding.site.line, finding.rule)
        for finding in profile.findings
        if finding.is_allowed
    )


def excused_in_source(profile: Profile, source: SourceLines) -> Excused:
    """What the source excuses now, what is no finding included: needed reads, and what happens once."""
    return frozenset(
        (site.site.path, site.site.line, site.rule)
        for site in profile.sites
        if site.rule is not None and source.excuse(site.site, site.rule) is Excuse.GIVEN
    )


def is_excused(site: Site, excused: Excused) -> bool:
    """The site counts against no limit."""
    return site.rule is not None and (site.site.path, site.site.line, site.rule) in excused


def figure_of(profile: Profile, limit: Limit, excused: Excused = frozenset()) -> float:
    """What a figure is, per step, in the part of the run that a limit is about."""
    parts = list(amounts(profile, limit))
    if limit.figure in RATES and limit.path is None and limit.function is None:
        place = profile if limit.region is None else profile.regions.get(limit.region)
        total = 0.0 if place is None else place.per_step.get(limit.figure, 0.0)
        total -= sum(amount for site, amount in parts if is_excused(site, excused))
    else:
        total = sum(amount for site, amount in parts if not is_excused(site, excused))
    return round(max(total, 0.0), 6)


def amounts(profile: Profile, limit: Limit) -> Iterator[tuple[Site, float]]:
    """The sites that a limit is about, with what each adds to its figure."""
    for site in profile.sites:
        amount = amount_of(site, limit.figure, profile.run.steps)
        if (
            amount > 0
            and limit.region in {None, site.region}
            and fnmatchcase(site.site.path, limit.path or "*")
            and fnmatchcase(site.site.function, limit.function or "*")
        ):
            yield site, amount


def amount_of(site: Site, figure: str, steps: int) -> float:
    """What a site adds to a figure, per step; per run if there are no steps."""
    if figure in BYTES:
        kinds = TO_HOST if figure == "bytes_to_host" else (EventKind.COPY_TO_DEVICE,)
        # Sites hold the bytes of the whole run; those outside steps are taken to be as large.
        is_moving = site.kind in kinds and site.count > 0
        return site.nbytes / site.count * site.per_step if is_moving else 0.0
    if figure == "syncs":
        rate = site.per_step if site.is_blocking else 0.0
    elif figure in tuple(SyncClass):
        rate = _class_rate(site, SyncClass(figure))
    else:
        rate = site.per_step if site.kind == figure else 0.0
    # Whole events, so that the sum of many rounded rates is the rate of the sum.
    return round(rate * steps) / steps if steps else rate


def _class_rate(site: Site, wanted: SyncClass) -> float:
    """How many of a site's syncs are of a class: some may hand decisions over and others not."""
    if not site.is_blocking:
        return 0.0
    needed = min(site.needed_per_step, site.per_step)
    rest = SyncClass.AVOIDABLE if site.sync_class is None else site.sync_class
    rate = needed if wanted is SyncClass.NEEDED else 0.0
    return rate + (site.per_step - needed if wanted is rest else 0.0)
