"""Which line of an earlier profile a line of a later one is, although lines have moved in between."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from syncprobe.comparison.alignment import Line, aligned

if TYPE_CHECKING:
    from collections.abc import Iterable

    from syncprobe.comparison.alignment import Doing
    from syncprobe.profiles.model import Profile, Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A site in the earlier and in the later profile; None where it is not there."""

    before: Site | None
    after: Site | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePair:
    """A line in the earlier and in the later profile; None where it is not there."""

    before: Line | None
    after: Line | None

    @property
    def is_same(self) -> bool:
        """The line is in both, as it was written; a text that nobody read may be any."""
        if self.before is None or self.after is None:
            return False
        texts = (self.before.text, self.after.text)
        return texts[0] == texts[1] or "" in texts


def pairs(before: Profile, after: Profile) -> tuple[Pair, ...]:
    """Every site of both profiles once, paired where it is the same line doing the same thing.

    Lines are paired as `line_pairs` says.
    """
    found: list[Pair] = []
    for line in line_pairs(before, after):
        old_sites = {} if line.before is None else line.before.sites
        new_sites = {} if line.after is None else line.after.sites
        found += [
            Pair(before=old_sites.get(doing), after=new_sites.get(doing))
            for doing in dict.fromkeys([*old_sites, *new_sites])
        ]
    return tuple(found)


def line_pairs(before: Profile, after: Profile) -> tuple[LinePair, ...]:
    """Every line of both profiles once, paired where it is the same line.

    A line is recognised by its text, by what it does and by the lines around it, as a text comparison does,
    so an added line is one new line and not a new number for every line below it. Two scripts are taken to
    be two versions of one file.
    """
    first, second = _lines_by_path(before.sites), _lines_by_path(after.sites)
    renamed = _renamed(before, after)
    if renamed is not None:
        first[renamed[1]] = first.pop(renamed[0])
    return tuple(
        LinePair(before=old, after=new)
        for path in dict.fromkeys([*first, *second])
        for old, new in aligned(first.get(path, []), second.get(path, []))
    )


def _renamed(before: Profile, after: Profile) -> tuple[str, str] | None:
    """What the script of each profile is called in it, if they are scripts of different names."""
    old, new = _script(before), _script(after)
    if old is None or new is None or old == new:
        return None
    is_mixed = any(site.site.path == new for site in before.sites)
    return None if is_mixed else (old, new)


def _script(profile: Profile) -> str | None:
    """The path under which a profile knows the script that was run."""
    target = PurePath(profile.run.target).as_posix()
    paths = {site.site.path for site in profile.sites}
    return next((path for path in paths if f"/{target}".endswith(f"/{path}")), None)


def _doing(site: Site) -> Doing:
    """What a site does, apart from where and how often."""
    return (site.kind, site.operation, site.region, site.is_blocking)


def _lines_by_path(sites: Iterable[Site]) -> dict[str, list[Line]]:
    grouped: defaultdict[str, defaultdict[tuple[int, str], dict[Doing, Site]]]
    grouped = defaultdict(lambda: defaultdict(dict))
    for site in sites:
        grouped[site.site.path][site.site.line, site.site.function][_doing(site)] = site
    return {
        path: [
            Line(number=number, function=function, text=_text(found.values()), sites=found)
            for (number, function), found in sorted(lines.items())
        ]
        for path, lines in grouped.items()
    }


def _text(sites: Iterable[Site]) -> str:
    return next((site.source for site in sites if site.source), "")
