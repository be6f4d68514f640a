"""Whose line is it? Sites rolled up to the innermost frame of the user's own project."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from syncprobe.profiles.model import OwnLine

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from syncprobe.events import CallSite
    from syncprobe.profiles.model import Profile, Site


class Way(NamedTuple):
    """One way a site was reached, and what came that way."""

    frames: tuple[CallSite, ...]
    """Innermost first; the first is the site."""
    times: int
    per_step: float
    host_us: float


def is_within(path: Path, folder: Path) -> bool:
    """Whether a file lies in a folder, other than among packages that are installed there."""
    return path.is_relative_to(folder) and "site-packages" not in path.relative_to(folder).parts


def owner(frames: Iterable[CallSite], own: Collection[str]) -> CallSite | None:
    """The innermost frame of the user's own files; None if there is none."""
    return next((frame for frame in frames if frame.path in own), None)


def own_lines(ways: Iterable[Way], own: Collection[str]) -> tuple[OwnLine, ...]:
    """The user's lines behind a site, dearest first; nothing if the site is one itself."""
    groups: defaultdict[CallSite, list[Way]] = defaultdict(list)
    for way in ways:
        line = owner(way.frames, own)
        if line is not None and line != way.frames[0]:
            groups[line].append(way)
    lines = (
        OwnLine(
            site=line,
            count=sum(way.times for way in group),
            per_step=round(sum(way.per_step for way in group), 6),
            host_us_modelled=round(sum(way.host_us for way in group), 6),
        )
        for line, group in groups.items()
    )
    return tuple(sorted(lines, key=lambda line: (-line.host_us_modelled, -line.count, line.site)))


def files_of(profile: Profile) -> set[str]:
    """All files that a profile's sites and their callers are in."""
    return {frame.path for site in profile.sites for way in _ways(site) for frame in way.frames}


def owned(profile: Profile, own: Collection[str]) -> Profile:
    """The profile with its sites rolled up to other files than when it was recorded.

    A profile keeps how often each caller came, not what each cost, so costs are shared out by that.
    """
    sites = tuple(replace(site, own=own_lines(_ways(site), own)) for site in profile.sites)
    return replace(profile, sites=sites)


def _ways(site: Site) -> list[Way]:
    known = sum(caller.count for caller in site.callers)
    if not known:
        return [Way((site.site,), site.count, site.per_step, site.host_us_modelled)]
    return [
        Way(
            (site.site, *caller.stack),
            round(site.count * caller.count / known),
            site.per_step * caller.count / known,
            site.host_us_modelled * caller.count / known,
        )
        for caller in site.callers
    ]
