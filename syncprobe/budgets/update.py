"""What changes when a committed profile is made again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from syncprobe.comparison.growth import pairs
from syncprobe.comparison.side_by_side import Change

if TYPE_CHECKING:
    from syncprobe.comparison.growth import Pair
    from syncprobe.profiles.model import Profile, Run, Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """A committed profile, old and new."""

    budget: str
    path: str
    before: Profile | None
    """None if there was none that could be read."""
    after: Profile
    figures: tuple[Change, ...]
    """The rates that are not what they were."""
    sites: tuple[Pair, ...]
    """The sites that appeared, disappeared, or do more or less often what they did."""
    is_written: bool
    """False if nothing but times and moments would have changed, so that the file was left alone."""


def update_of(budget: str, path: str, before: Profile | None, after: Profile) -> Update:
    """Compare a committed profile with the one that is to replace it."""
    if before is None:
        return Update(
            budget=budget,
            path=path,
            before=None,
            after=after,
            figures=tuple(
                Change(name=name, before=None, after=rate) for name, rate in after.per_step.items()
            ),
            sites=(),
            is_written=True,
        )
    figures = tuple(
        Change(name=name, before=before.per_step.get(name), after=after.per_step.get(name))
        for name in dict.fromkeys([*before.per_step, *after.per_step])
        if before.per_step.get(name) != after.per_step.get(name)
    )
    paired = pairs(before, after)
    return Update(
        budget=budget,
        path=path,
        before=before,
        after=after,
        figures=figures,
        sites=tuple(pair for pair in paired if _rate(pair.before) != _rate(pair.after)),
        is_written=bool(figures)
        or any(_facts(pair.before) != _facts(pair.after) for pair in paired)
        or _scenario(before) != _scenario(after),
    )


def committable(profile: Profile) -> Profile:
    """The part of a profile that is worth committing: what it counted, by line.

    Stacks and timelines are most of a file and play no part in a gate, nor does where own time goes.
    """
    return replace(
        profile,
        sites=tuple(replace(site, callers=()) for site in profile.sites),
        timeline=None,
        other_timelines=(),
        lines=(),
        hot_spots=(),
        hot_calls=(),
        fingerprints=None,
    )


def _rate(site: Site | None) -> float:
    return 0.0 if site is None else site.per_step


def _facts(site: Site | None) -> tuple[object, ...]:
    """What a site says apart from time."""
    if site is None:
        return ()
    return (site.site, site.count, site.per_step, site.nbytes, site.sync_class, site.rule)


def _scenario(profile: Profile) -> Run:
    """What was run, apart from what changes with the machine."""
    return replace(profile.run, python="", command="", notes=())
