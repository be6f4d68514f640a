"""Two profiles side by side: what changed, what is gone, what is new, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.comparison.growth import line_pairs
from syncprobe.comparison.own_code import OwnChange, events_by_region, own_by_region, own_change
from syncprobe.comparison.settling import are_comparable, settled
from syncprobe.equivalence.verdict import Verdict
from syncprobe.targets import options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from syncprobe.comparison.alignment import Line
    from syncprobe.comparison.ratio import Speedup
    from syncprobe.profiles.model import Profile, Region, Run, Site


SCENARIO: Final = ("target", *options.SCENARIO)
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
    """Modelled with the own time of the first variant, wherever that did not really change."""
    rates: tuple[Change, ...]
    regions: tuple[RegionChange, ...]
    time: tuple[Change, ...]
    appeared: tuple[Site, ...]
    """Sites that only the second variant has."""
    disappeared: tuple[Site, ...]
    """Sites that only the first variant has."""
    events_ms: Change
    """What events are modelled to cost per step: counts times costs."""
    own: OwnChange | None = None
    """What became of the program's own time; None where no time was modelled for both."""
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
    own = _own_change(before, after)
    before, after = settled((before, after))
    lines = line_pairs(before, after)
    return Comparison(
        before=before,
        after=after,
        rates=_changes(before.per_step, after.per_step),
        regions=_region_changes(before, after),
        time=_time_changes(before, after),
        appeared=_only_in_one(
            after, ((pair.after, pair.before if pair.is_same else None) for pair in lines)
        ),
        disappeared=_only_in_one(
            before, ((pair.before, pair.after if pair.is_same else None) for pair in lines)
        ),
        events_ms=_events_change(before, after),
        own=own,
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
    if different:
        reason = f"the runs differ in {', '.join(different)}"
    elif first is None or second is None:
        reason = "not both profiles have digests"
    elif (first.actions, first.rewards) != (second.actions, second.rewards):
        reason = (
            "actions or rewards differ in some bit, which modes fast and max may do; see 'verify'"
        )
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


def _events_change(before: Profile, after: Profile) -> Change:
    first, second = (
        None
        if profile.time.modelled_ms_per_step is None
        else sum(events_by_region(profile.sites).values())
        for profile in (before, after)
    )
    return Change(name="events_ms_per_step", before=first, after=second)


def _own_change(before: Profile, after: Profile) -> OwnChange | None:
    if not are_comparable(before, after):
        return None
    return own_change(own_by_region(before), own_by_region(after))


def _only_in_one(
    profile: Profile, lines: Iterable[tuple[Line | None, Line | None]]
) -> tuple[Site, ...]:
    """Sites that the same line of the other profile has not, by kind and region, as the profile has them."""
    found: set[Site] = set()
    for mine, other in lines:
        if mine is not None:
            others = () if other is None else other.sites.values()
            known = {(site.kind, site.region) for site in others}
            found.update(
                site for site in mine.sites.values() if (site.kind, site.region) not in known
            )
    return tuple(site for site in profile.sites if site in found)
