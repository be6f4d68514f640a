"""Where the time of a step goes: to the device, to the host's own code, and to which lines."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.analysis.model import SyncClass
from syncprobe.events import EventKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from syncprobe.analysis.model import Finding, Profile, Site
    from syncprobe.events import CallSite

COSTLY_LINES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """Where the modelled time of a step goes, in shares of it."""

    syncs: float
    """Waiting for the device and for transfers."""
    launches: float
    """Issuing operations."""
    copies: float
    """Issuing copies that do not block."""
    host: Mapping[str, float]
    """Everything else, by region, largest first: code that would run the same without a device."""

    @property
    def traffic(self) -> float:
        """All that talking to the device is worth."""
        return min(self.syncs + self.launches + self.copies, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CostlyLine:
    """All that one line of source did, whatever the kind, operation and region."""

    site: CallSite
    cost_us: float
    """Modelled, per step."""
    share: float | None
    """Of the modelled step."""
    rates: Mapping[EventKind, float]
    """Events per step by kind, dearest first."""


def worth_of(profile: Profile) -> Worth | None:
    """Where the modelled step goes; None if no time was modelled."""
    step_us = (profile.time.modelled_ms_per_step or 0.0) * 1e3
    if step_us <= 0:
        return None
    syncs = launches = copies = 0.0
    host_us = {
        name: (region.modelled_ms_per_step or 0.0) * 1e3 for name, region in profile.regions.items()
    }
    for site in profile.sites:
        issuing = site.host_us_modelled - site.stall_us_modelled
        syncs += site.stall_us_modelled
        if site.kind is EventKind.LAUNCH:
            launches += issuing
        else:
            copies += issuing
        host_us[site.region] = host_us.get(site.region, 0.0) - site.host_us_modelled
    largest_first = sorted(host_us.items(), key=lambda item: -item[1])
    return Worth(
        syncs=syncs / step_us,
        launches=launches / step_us,
        copies=copies / step_us,
        host={name: cost / step_us for name, cost in largest_first if cost > 0},
    )


def sync_classes(profile: Profile) -> dict[SyncClass, float]:
    """Blocking events per step, by whether they have to be there."""
    rates = dict.fromkeys(SyncClass, 0.0)
    for site in profile.sites:
        if site.is_blocking:
            needed = min(site.needed_per_step, site.per_step)
            rates[SyncClass.NEEDED] += needed
            rest = SyncClass.AVOIDABLE if site.sync_class is None else site.sync_class
            rates[rest] += site.per_step - needed
    return rates


def costly_lines(profile: Profile, limit: int = COSTLY_LINES) -> tuple[CostlyLine, ...]:
    """The lines of source that cost most; without modelled time, those that block most often."""
    by_line: defaultdict[tuple[str, int], list[Site]] = defaultdict(list)
    for site in profile.sites:
        by_line[site.site.path, site.site.line].append(site)
    step_us = (profile.time.modelled_ms_per_step or 0.0) * 1e3
    groups = sorted(by_line.items(), key=lambda item: (*_weight(item[1]), item[0]))
    return tuple(_costly_line(sites, step_us) for _, sites in groups[:limit])


def top_finding(profile: Profile) -> Finding | None:
    """The finding that costs most and that nobody has excused."""
    open_findings = [finding for finding in profile.findings if not finding.is_allowed]
    return max(open_findings, key=lambda finding: finding.cost_us_modelled, default=None)


def _weight(sites: list[Site]) -> tuple[float, float, float]:
    return (
        -sum(site.host_us_modelled for site in sites),
        -sum(site.per_step for site in sites if site.is_blocking),
        -sum(site.per_step for site in sites),
    )


def _costly_line(sites: list[Site], step_us: float) -> CostlyLine:
    cost = sum(site.host_us_modelled for site in sites)
    rates: defaultdict[EventKind, float] = defaultdict(float)
    costs: defaultdict[EventKind, float] = defaultdict(float)
    for site in sites:
        rates[site.kind] += site.per_step
        costs[site.kind] += site.host_us_modelled
    kinds = sorted(rates, key=lambda kind: (-costs[kind], -rates[kind], kind))
    return CostlyLine(
        site=sites[0].site,
        cost_us=cost,
        share=min(cost / step_us, 1.0) if step_us > 0 else None,
        rates={kind: rates[kind] for kind in kinds},
    )
