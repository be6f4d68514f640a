"""Own code of two variants: whether it really changed, or only took a little longer this time."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from syncprobe.profiles.model import Profile, Site

DRIFT: Final = 0.1
"""How far off own time may be from run to run, as a share; ``docs/model.md`` says how that was checked."""
PER_CALL_MS: Final = 0.002
"""How far off it may be for every operator that is called, likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSpan:
    """Own time per step of one region, and between what it lies."""

    ms: float
    low_ms: float
    high_ms: float
    yardstick_ns: float = 0.0
    """How fast the machine was; 0 if nobody knows."""


NOTHING: Final = OwnSpan(ms=0.0, low_ms=0.0, high_ms=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnChange:
    """By how much own time per step changed, and between what that lies."""

    before_ms: float
    after_ms: float
    low_ms: float
    high_ms: float
    regions: tuple[str, ...]
    """Those that take longer or shorter beyond doubt; the others are taken to be as they were."""

    @property
    def is_decided(self) -> bool:
        """The interval does not contain zero."""
        return _excludes_zero((self.low_ms, self.high_ms))


def own_by_region(profile: Profile) -> dict[str, OwnSpan]:
    """Own time per step of each region of a profile whose time was modelled."""
    events_ms = events_by_region(profile.sites)
    return {
        name: _span(
            profile,
            max((region.modelled_ms_per_step or 0.0) - events_ms.get(name, 0.0), 0.0),
            region.per_step.get("launch", 0.0),
        )
        for name, region in profile.regions.items()
    }


def events_by_region(sites: Iterable[Site]) -> Mapping[str, float]:
    """What events are modelled to cost the host, in milliseconds per step."""
    costs: defaultdict[str, float] = defaultdict(float)
    for site in sites:
        costs[site.region] += site.host_us_modelled / 1e3
    return costs


def carried(before: Mapping[str, OwnSpan], after: Mapping[str, OwnSpan]) -> dict[str, OwnSpan]:
    """Own time of the second variant: that of the first, but for regions where it really changed."""
    return {
        name: span if _is_changed(before.get(name), span) else before.get(name, span)
        for name, span in after.items()
    }


def own_change(before: Mapping[str, OwnSpan], after: Mapping[str, OwnSpan]) -> OwnChange:
    """What can be said about own code in all: of the regions that changed, or else of all of them."""
    names = dict.fromkeys([*before, *after])
    changed = [name for name in names if _is_changed(before.get(name), after.get(name))]
    intervals = [
        _difference(before.get(name, NOTHING), after.get(name, NOTHING))
        for name in changed or names
    ]
    return OwnChange(
        before_ms=sum(span.ms for span in before.values()),
        after_ms=sum(span.ms for span in carried(before, after).values()),
        low_ms=sum(low for low, _ in intervals),
        high_ms=sum(high for _, high in intervals),
        regions=tuple(changed),
    )


def _is_changed(before: OwnSpan | None, after: OwnSpan | None) -> bool:
    """A region came or went with its own code, or its own time changed beyond doubt."""
    if before is None or after is None:
        return (before or after or NOTHING).ms > 0
    return _excludes_zero(_difference(before, after))


def _span(profile: Profile, ms: float, calls: float) -> OwnSpan:
    """A region's part of own time is as uncertain as the whole, and by what runs and calls differ."""
    own = profile.time.own
    if own is None:
        return OwnSpan(ms=ms, low_ms=0.0, high_ms=math.inf)
    low, high = (
        (own.low_ms / own.ms_per_step, own.high_ms / own.ms_per_step)
        if own.ms_per_step
        else (1.0, 1.0)
    )
    margin_ms = DRIFT * ms + PER_CALL_MS * calls
    return OwnSpan(
        ms=ms,
        low_ms=max(ms * low - margin_ms, 0.0),
        high_ms=ms * high + margin_ms,
        yardstick_ns=own.yardstick_ns,
    )


def _difference(before: OwnSpan, after: OwnSpan) -> tuple[float, float]:
    """By how much own time changed, at least and at most; a slow machine only adds, so the slower one's least is less."""
    slowness = 1.0
    if before.yardstick_ns and after.yardstick_ns:
        slowness = after.yardstick_ns / before.yardstick_ns
    return (
        after.low_ms / max(slowness, 1.0) - before.high_ms,
        after.high_ms - before.low_ms * min(slowness, 1.0),
    )


def _excludes_zero(interval: tuple[float, float]) -> bool:
    low, high = interval
    return low > 0 or high < 0
