"""Which line of an earlier profile a line of a later one is, although lines have moved in between."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from syncprobe.analysis.model import Profile, Site

SAME_FUNCTION: Final = 0.5
UNMOVED: Final = 0.01
"""Decides only between lines that are equally alike in everything else."""

Doing = tuple[str, str, str, bool]
"""Kind, operation, region and whether it blocks: what tells the sites of one line apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A site in the earlier and in the later profile; None where it is not there."""

    before: Site | None
    after: Site | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    number: int
    function: str
    sites: Mapping[Doing, Site]


def pairs(before: Profile, after: Profile) -> tuple[Pair, ...]:
    """Every site of both profiles once, paired where it is the same line doing the same thing.

    A line is recognised by what it does and by the lines around it, as a text comparison does, so an
    added line is one new line and not a new number for every line below it.
    """
    first, second = _lines_by_path(before.sites), _lines_by_path(after.sites)
    found: list[Pair] = []
    for path in dict.fromkeys([*first, *second]):
        for old, new in _aligned(first.get(path, []), second.get(path, [])):
            old_sites = {} if old is None else old.sites
            new_sites = {} if new is None else new.sites
            found += [
                Pair(before=old_sites.get(doing), after=new_sites.get(doing))
                for doing in dict.fromkeys([*old_sites, *new_sites])
            ]
    return tuple(found)


def _doing(site: Site) -> Doing:
    """What a site does, apart from where and how often."""
    return (site.kind, site.operation, site.region, site.is_blocking)


def _lines_by_path(sites: Iterable[Site]) -> dict[str, list[_Line]]:
    grouped: defaultdict[str, defaultdict[tuple[int, str], dict[Doing, Site]]]
    grouped = defaultdict(lambda: defaultdict(dict))
    for site in sites:
        grouped[site.site.path][site.site.line, site.site.function][_doing(site)] = site
    return {
        path: [
            _Line(number=number, function=function, sites=found)
            for (number, function), found in sorted(lines.items())
        ]
        for path, lines in grouped.items()
    }


def _aligned(
    before: Sequence[_Line], after: Sequence[_Line]
) -> list[tuple[_Line | None, _Line | None]]:
    """The pairing in source order that makes lines most alike."""
    best = _best_scores(before, after)
    result: list[tuple[_Line | None, _Line | None]] = []
    i = j = 0
    while i < len(before) or j < len(after):
        if i < len(before) and best[i][j] == best[i + 1][j]:
            result.append((before[i], None))
            i += 1
        elif j < len(after) and best[i][j] == best[i][j + 1]:
            result.append((None, after[j]))
            j += 1
        else:
            result.append((before[i], after[j]))
            i, j = i + 1, j + 1
    return result


def _best_scores(before: Sequence[_Line], after: Sequence[_Line]) -> list[list[float]]:
    """The best total likeness of what follows each pair of places."""
    best = [[0.0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for i in reversed(range(len(before))):
        for j in reversed(range(len(after))):
            together = best[i + 1][j + 1] + _likeness(before[i], after[j])
            best[i][j] = max(best[i + 1][j], best[i][j + 1], together)
    return best


def _likeness(first: _Line, second: _Line) -> float:
    """0 for lines with nothing in common, most for lines that do the same equally often."""
    common = first.sites.keys() & second.sites.keys()
    if not common:
        return 0.0
    equal = sum(first.sites[key].per_step == second.sites[key].per_step for key in common)
    union = len(first.sites) + len(second.sites) - len(common)
    return (
        (len(common) + equal) / (2 * union)
        + SAME_FUNCTION * (first.function == second.function)
        + UNMOVED * (first.number == second.number)
    )
