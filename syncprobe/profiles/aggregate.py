"""From sums of events to the numbers of a profile: sites, regions, rates and ceilings."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from syncprobe.events import TO_HOST, EventKind
from syncprobe.profiles.lines.owners import Way, own_lines
from syncprobe.profiles.model import Caller, Ceiling, Region, Site
from syncprobe.profiles.quantities import RATES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from syncprobe.events import CallSite, EventSum, RegionTime

MAX_CALLERS: Final = 5
CEILING_SITES: Final = 5


def sites_of(sums: Iterable[EventSum], steps: int, own: Collection[str] = ()) -> tuple[Site, ...]:
    """One site per line, kind, operation and region, dearest first; equal ones in source order.

    Args:
        sums: What was recorded.
        steps: How many steps that was.
        own: The files that are the user's own, to which lines of libraries are rolled up.
    """
    groups: defaultdict[tuple[object, ...], list[EventSum]] = defaultdict(list)
    for entry in sums:
        key = (entry.origin.site, entry.kind, entry.operation, entry.region, entry.is_blocking)
        groups[key].append(entry)
    sites = (_site(group, steps, own) for group in groups.values())
    return tuple(sorted(sites, key=_dearest_first))


def totals(sums: Iterable[EventSum]) -> dict[str, int]:
    """Events by kind; every kind is there, also those that never happened."""
    counts = {str(kind): 0 for kind in EventKind}
    for entry in sums:
        counts[entry.kind] += entry.count
    return counts


def rates(sums: Sequence[EventSum], steps: int) -> dict[str, float]:
    """Events and bytes per step; per run if no step was marked."""
    result = dict.fromkeys(RATES, 0.0)
    for entry in sums:
        happened = _rate(entry.in_steps, entry.count, steps)
        moved = _rate(entry.nbytes_in_steps, entry.nbytes, steps)
        result[entry.kind] += happened
        if entry.is_blocking:
            result["syncs"] += happened
        if entry.kind in TO_HOST:
            result["bytes_to_host"] += moved
        elif entry.kind is EventKind.COPY_TO_DEVICE:
            result["bytes_to_device"] += moved
    return {key: _tidy(value) for key, value in result.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionFacts:
    """What is known about the regions besides their events."""

    modelled: Mapping[str, RegionTime] = field(default_factory=dict)
    own_ms: Mapping[str, float] = field(default_factory=dict)
    measured_ms: Mapping[str, float] = field(default_factory=dict)
    has_model: bool = False


def regions_of(sums: Sequence[EventSum], steps: int, facts: RegionFacts) -> dict[str, Region]:
    """What each region did and cost, in the order the regions first appeared."""
    names = dict.fromkeys(
        [*facts.measured_ms, *facts.modelled, *facts.own_ms, *(entry.region for entry in sums)]
    )
    by_region: defaultdict[str, list[EventSum]] = defaultdict(list)
    for entry in sums:
        by_region[entry.region].append(entry)
    regions = {}
    for name in names:
        own = by_region[name]
        time = facts.modelled.get(name)
        device_ms = 0.0 if time is None else time.device_ns / 1e6 / max(steps, 1)
        regions[name] = Region(
            counts=totals(own),
            per_step=rates(own, steps),
            measured_ms_per_step=facts.measured_ms.get(name),
            modelled_ms_per_step=device_ms + facts.own_ms.get(name, 0.0)
            if facts.has_model
            else None,
        )
    return regions


def ceilings(
    sites: Sequence[Site], regions: Mapping[str, Region], step_ms: float | None
) -> tuple[Ceiling, ...]:
    """The step time left if a thing cost nothing: all syncs, all launches, each region, the dearest lines.

    Everything here is modelled time.
    """
    if not step_ms:
        return ()
    step_us = step_ms * 1e3
    entries = [
        _ceiling("all syncs", sum(site.stall_us_modelled for site in sites), step_us),
        _ceiling(
            "all launches",
            sum(site.host_us_modelled for site in sites if site.kind is EventKind.LAUNCH),
            step_us,
        ),
    ]
    entries += sorted(
        (
            _ceiling(f"region {name}", (region.modelled_ms_per_step or 0.0) * 1e3, step_us)
            for name, region in regions.items()
        ),
        key=lambda entry: -entry.share,
    )
    by_line: defaultdict[CallSite, float] = defaultdict(float)
    for site in sites:
        by_line[site.site] += site.host_us_modelled
    dearest = sorted(by_line.items(), key=lambda item: (-item[1], item[0]))[:CEILING_SITES]
    entries += [
        _ceiling(f"line {site.path}:{site.line}", cost, step_us) for site, cost in dearest if cost
    ]
    return tuple(entries)


def _site(group: list[EventSum], steps: int, own: Collection[str]) -> Site:
    first = group[0]
    count = sum(entry.count for entry in group)
    in_steps = sum(entry.in_steps for entry in group)
    callers: Counter[tuple[CallSite, ...]] = Counter()
    inside: Counter[tuple[CallSite, ...]] = Counter()
    for entry in group:
        callers[entry.origin.stack[1:]] += entry.count
        inside[entry.origin.stack[1:]] += entry.in_steps
    # Who came in the steps first: the others say nothing about those.
    frequent = sorted(callers, key=lambda stack: (-inside[stack], -callers[stack]))[:MAX_CALLERS]
    return Site(
        site=first.origin.site,
        kind=first.kind,
        operation=first.operation,
        entry=first.origin.entry,
        region=first.region,
        is_blocking=first.is_blocking,
        count=count,
        per_step=_tidy(_rate(in_steps, count, steps)),
        nbytes=sum(entry.nbytes for entry in group),
        stall_us_modelled=_tidy(sum(entry.stall_ns for entry in group) / 1e3 / max(steps, 1)),
        host_us_modelled=_tidy(sum(entry.host_ns for entry in group) / 1e3 / max(steps, 1)),
        needed_per_step=_tidy(sum(entry.needed for entry in group) / max(steps, 1)),
        callers=tuple(Caller(stack=stack, count=callers[stack]) for stack in frequent),
        own=own_lines((_way(entry, steps) for entry in group), own),
    )


def _way(entry: EventSum, steps: int) -> Way:
    return Way(
        entry.origin.stack,
        entry.count,
        _rate(entry.in_steps, entry.count, steps),
        entry.host_ns / 1e3 / max(steps, 1),
    )


def _dearest_first(site: Site) -> tuple[object, ...]:
    return (-site.host_us_modelled, -site.count, site.site, site.kind, site.operation, site.region)


def _rate(in_steps: int, total: int, steps: int) -> float:
    return in_steps / steps if steps else float(total)


def _ceiling(what: str, cost_us: float, step_us: float) -> Ceiling:
    share = min(cost_us / step_us, 1.0)
    # A thing that is all of the step has no finite ceiling; a million says as much in JSON.
    speedup = 1.0 / (1.0 - share) if share < 1.0 else 1e6
    return Ceiling(what=what, share=_tidy(share), speedup_if_free=_tidy(speedup))


def _tidy(value: float) -> float:
    """Round away what only floating-point division put there."""
    return round(value, 6)
