"""Where the time of a step goes: to the device, and to the host's own code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.profiles.model import SyncClass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from syncprobe.profiles.model import Profile

MOSTLY: Final = 0.5
HARDLY: Final = 0.2


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
    least: float
    most: float
    """What traffic may be worth, given how well the program's own time is known."""

    @property
    def traffic(self) -> float:
        """All that talking to the device is worth."""
        return min(self.syncs + self.launches + self.copies, 1.0)

    @property
    def is_host_bound(self) -> bool:
        """The program hardly waits for the device, and one region's own code is most of the step."""
        return self.traffic < HARDLY and max(self.host.values(), default=0.0) >= MOSTLY


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
    least, most = _bounds(profile, syncs + launches + copies)
    largest_first = sorted(host_us.items(), key=lambda item: -item[1])
    return Worth(
        syncs=syncs / step_us,
        launches=launches / step_us,
        copies=copies / step_us,
        host={name: cost / step_us for name, cost in largest_first if cost > 0},
        least=least,
        most=most,
    )


def _bounds(profile: Profile, traffic_us: float) -> tuple[float, float]:
    """The share of the traffic if own code takes as long as it may, and if it is as short as it may be."""
    own = profile.time.own
    if own is None:
        own_us = (profile.time.modelled_ms_per_step or 0.0) * 1e3 - traffic_us
        high_us = low_us = max(own_us, 0.0)
    else:
        high_us, low_us = own.high_ms * 1e3, own.low_ms * 1e3
    whole = max(traffic_us, 1e-9)
    return whole / (whole + high_us), whole / (whole + low_us)


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


def own_us(profile: Profile) -> float:
    """The program's own time per step; 0 where no time was modelled."""
    if profile.time.own is not None:
        return profile.time.own.ms_per_step * 1e3
    step_us = (profile.time.modelled_ms_per_step or 0.0) * 1e3
    return max(step_us - sum(site.host_us_modelled for site in profile.sites), 0.0)
