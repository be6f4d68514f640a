"""Variants modelled with the same own time where their own code is the same.

What two recordings measured of the same code differs by noise. It must not hide, or make up, what the
variants do to the device, which is counted and not measured.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from syncprobe.comparison.own_code import carried, events_by_region, own_by_region
from syncprobe.events import EventKind
from syncprobe.profiles.aggregate import ceilings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from syncprobe.comparison.own_code import OwnSpan
    from syncprobe.profiles.host import OwnTime
    from syncprobe.profiles.model import Profile, Site

SAME_WORK: Final = 1.01
"""Work of the device that differs by less than this factor is the same."""
_COPIES: Final = (EventKind.COPY_TO_HOST, EventKind.COPY_TO_DEVICE)


def settled(profiles: Sequence[Profile]) -> tuple[Profile, ...]:
    """The profiles as they are to be compared: each has the own time of the one before, unless it changed."""
    shown: list[Profile] = []
    known: Mapping[str, OwnSpan] = {}
    for profile in profiles:
        own = own_by_region(profile)
        if not shown or not are_comparable(shown[-1], profile):
            known = own
            shown.append(profile)
            continue
        last, known = known, carried(known, own)
        sites = profile.sites
        if all(last.get(name) == span for name, span in known.items()):
            sites = _without_noise(shown[-1], profile)
        shown.append(_modelled_again(profile, known, sites))
    return tuple(shown)


def are_comparable(first: Profile, second: Profile) -> bool:
    """Time was modelled for both, and per the same thing."""
    times = (first.time.modelled_ms_per_step, second.time.modelled_ms_per_step)
    return None not in times and first.rate_noun == second.rate_noun


def _modelled_again(
    profile: Profile, own: Mapping[str, OwnSpan], sites: tuple[Site, ...]
) -> Profile:
    """The profile with this own time and these costs."""
    events_ms = events_by_region(sites)
    regions = {
        name: replace(
            region, modelled_ms_per_step=round(own[name].ms + events_ms.get(name, 0.0), 6)
        )
        for name, region in profile.regions.items()
    }
    step_ms = sum(region.modelled_ms_per_step or 0.0 for region in regions.values())
    time = replace(
        profile.time,
        modelled_ms_per_step=round(step_ms, 6),
        device_busy=round(min(_busy_ms(profile) / step_ms, 1.0), 6) if step_ms else None,
        own=None if profile.time.own is None else _own_time(profile.time.own, own),
    )
    return replace(
        profile,
        regions=regions,
        sites=sites,
        time=time,
        ceiling=ceilings(sites, regions, step_ms),
    )


def _own_time(own: OwnTime, spans: Mapping[str, OwnSpan]) -> OwnTime:
    return replace(
        own,
        ms_per_step=sum(span.ms for span in spans.values()),
        low_ms=sum(span.low_ms for span in spans.values()),
        high_ms=sum(span.high_ms for span in spans.values()),
        by_region={name: span.ms for name, span in spans.items() if span.ms},
    )


def _without_noise(before: Profile, after: Profile) -> tuple[Site, ...]:
    """The sites of the second variant, with no more waiting than the first explains.

    How long the host waits depends on when it comes, and that was measured. With the same own time and
    nothing more to do, no step can take longer: what is more is noise of the waiting.
    """
    excess_us = _events_us(after.sites) - _events_us(before.sites)
    stall_us = sum(site.stall_us_modelled for site in after.sites)
    if excess_us <= 0 or stall_us <= 0 or not _does_no_more(before, after):
        return after.sites
    factor = min(excess_us / stall_us, 1.0)
    return tuple(
        replace(
            site,
            stall_us_modelled=site.stall_us_modelled * (1 - factor),
            host_us_modelled=site.host_us_modelled - site.stall_us_modelled * factor,
        )
        for site in after.sites
    )


def _does_no_more(before: Profile, after: Profile) -> bool:
    """The second variant gives the device nothing more to do, and talks to it no more often."""
    if before.time.spec != after.time.spec or _busy_ms(after) > SAME_WORK * _busy_ms(before):
        return False
    return all(more <= less for less, more in zip(_traffic(before), _traffic(after), strict=True))


def _traffic(profile: Profile) -> tuple[float, ...]:
    """Launches, syncs, copies that do not block, and bytes, per step."""
    launches = syncs = copies = 0.0
    for site in profile.sites:
        launches += site.per_step * (site.kind is EventKind.LAUNCH)
        syncs += site.per_step * site.is_blocking
        copies += site.per_step * (site.kind in _COPIES and not site.is_blocking)
    rates = profile.per_step
    moved = rates.get("bytes_to_host", 0.0) + rates.get("bytes_to_device", 0.0)
    return tuple(round(amount, 6) for amount in (launches, syncs, copies, moved))


def _events_us(sites: Sequence[Site]) -> float:
    return sum(site.host_us_modelled for site in sites)


def _busy_ms(profile: Profile) -> float:
    return (profile.time.device_busy or 0.0) * (profile.time.modelled_ms_per_step or 0.0)
