"""Two profiles side by side: what changed, what is gone, what is new, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.analysis.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from syncprobe.analysis.model import Profile, Region, Run, Site
    from syncprobe.analysis.ratio import Speedup


SCENARIO: Final = (
    "target",
    "agent",
    "robots",
    "cores",
    "obstacles",
    "seed",
    "steps",
    "warmup",
)
"""What two runs must have in common for their digests to be comparable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One figure before and after."""

    name: str
    before: float | None
    after: float | None

    @property
    def factor(self) -> float | None:
        """How many times smaller it became; None where that says nothing."""
        if not self.before or not self.after:
            return None
        return self.before / self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionChange:
    """One region before and after."""

    name: str
    syncs: Change
    launches: Change
    measured_ms: Change
    modelled_ms: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Everything known about two variants."""

    before: Profile
    after: Profile
    rates: tuple[Change, ...]
    regions: tuple[RegionChange, ...]
    time: tuple[Change, ...]
    appeared: tuple[Site, ...]
    """Sites that only the second variant has."""
    disappeared: tuple[Site, ...]
    """Sites that only the first variant has."""
    speedup: Speedup | None = None
    """Measured, interleaved; None if the profiles were only read."""
    verdict: Verdict | None = None
    """None if nobody checked."""


def compare(
    before: Profile,
    after: Profile,
    *,
    speedup: Speedup | None = None,
    verdict: Verdict | None = None,
) -> Comparison:
    """Put two profiles side by side."""
    return Comparison(
        before=before,
        after=after,
        rates=_changes(before.per_step, after.per_step),
        regions=_region_changes(before, after),
        time=_time_changes(before, after),
        appeared=_only_in_first(after, before),
        disappeared=_only_in_first(before, after),
        speedup=speedup,
        verdict=verdict,
    )


def unlike(first: Run, second: Run) -> tuple[str, ...]:
    """In what two runs differ, apart from patches and device, as ``seed 0 and 1``."""
    return tuple(
        f"{name} {getattr(first, name)} and {getattr(second, name)}"
        for name in SCENARIO
        if getattr(first, name) != getattr(second, name)
    )


def verdict_from_digests(before: Profile, after: Profile) -> Verdict:
    """What two profiles alone say about equivalence: that they are identical, or nothing."""
    first, second = before.digest, after.digest
    different = unlike(before.run, after.run)
    if first is None or second is None:
        reason = "not both profiles have digests"
    elif different:
        reason = f"the runs differ in {', '.join(different)}"
    elif (first.actions, first.rewards) != (second.actions, second.rewards):
        reason = "actions or rewards differ in some bit, which fast mode may do; see 'verify'"
    else:
        steps = before.run.warmup + before.run.steps
        return Verdict(
            is_equivalent=True,
            summary=f"identical (digests of all actions and rewards, {steps} steps)",
        )
    return Verdict(is_equivalent=None, summary=f"not checked: {reason}")


def _changes(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[Change, ...]:
    names = dict.fromkeys([*before, *after])
    return tuple(
        Change(name=name, before=before.get(name), after=after.get(name)) for name in names
    )


def _region_changes(before: Profile, after: Profile) -> tuple[RegionChange, ...]:
    names = dict.fromkeys([*before.regions, *after.regions])
    return tuple(
        _region_change(name, before.regions.get(name), after.regions.get(name)) for name in names
    )


def _region_change(name: str, before: Region | None, after: Region | None) -> RegionChange:
    def change(what: str, read: Callable[[Region], float | None]) -> Change:
        return Change(
            name=what,
            before=None if before is None else read(before),
            after=None if after is None else read(after),
        )

    return RegionChange(
        name=name,
        syncs=change("syncs", lambda region: region.per_step.get("syncs")),
        launches=change("launch", lambda region: region.per_step.get("launch")),
        measured_ms=change("measured_ms_per_step", lambda region: region.measured_ms_per_step),
        modelled_ms=change("modelled_ms_per_step", lambda region: region.modelled_ms_per_step),
    )


def _time_changes(before: Profile, after: Profile) -> tuple[Change, ...]:
    first, second = before.time, after.time
    measured = (first.measured_ms_per_step, second.measured_ms_per_step)
    return (
        Change(
            name="measured_ms_per_step",
            before=measured[0].median if measured[0] else None,
            after=measured[1].median if measured[1] else None,
        ),
        Change(
            name="modelled_ms_per_step",
            before=first.modelled_ms_per_step,
            after=second.modelled_ms_per_step,
        ),
        Change(name="device_busy", before=first.device_busy, after=second.device_busy),
    )


def _only_in_first(first: Profile, second: Profile) -> tuple[Site, ...]:
    """Sites by line, kind and region, dearest first, as the profile has them."""
    known = {(site.site, site.kind, site.region) for site in second.sites}
    return tuple(site for site in first.sites if (site.site, site.kind, site.region) not in known)
