"""Which lines cost most: the user's own, with the lines of libraries that they reached beneath."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from syncprobe.rendering.answer.worth import own_us

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from syncprobe.events import CallSite, EventKind
    from syncprobe.profiles.host import HotSpot
    from syncprobe.profiles.model import Profile, Site

COSTLY_LINES: Final = 5
TINY: Final = 1e-5
"""What rounding leaves of a site when its callers' shares are taken off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostlyLine:
    """All that one line of source did, whatever the kind, operation and region."""

    site: CallSite
    cost_us: float
    """Modelled, per step, with the line's own code as far as that is known."""
    share: float | None
    """Of the modelled step."""
    rates: Mapping[EventKind, float]
    """Events per step by kind, dearest first; empty for a line that only the host works on."""
    own_us: float = 0.0
    """The part of the cost that is the host's own code."""
    beneath: tuple[CostlyLine, ...] = ()
    """Lines of libraries that did it when this line called them, dearest first."""


class _Part(NamedTuple):
    """What a site did on behalf of one line."""

    site: Site
    per_step: float
    host_us: float


def costly_lines(profile: Profile, limit: int = COSTLY_LINES) -> tuple[CostlyLine, ...]:
    """The lines that cost most, by events and own code; without modelled time, those that block most often."""
    by_line: defaultdict[tuple[str, int], list[_Part]] = defaultdict(list)
    places: dict[tuple[str, int], CallSite] = {}
    for site in profile.sites:
        for line, part in _parts(site):
            by_line[line.path, line.line].append(part)
            places.setdefault((line.path, line.line), line)
    spots = {(spot.site.path, spot.site.line): spot for spot in _hot_functions(profile)}
    places |= {key: spot.site for key, spot in spots.items()}
    whole_us = own_us(profile)
    lines = []
    for key, place in places.items():
        own = spots[key].share * whole_us if key in spots else 0.0
        costly = _costly_line(profile, place, by_line[key], own)
        if costly.cost_us or any(costly.rates.values()):
            lines.append((costly, _blocking(by_line[key])))
    lines.sort(key=_dearest_first)
    return tuple(
        replace(
            costly,
            beneath=_beneath(profile, costly.site, by_line[costly.site.path, costly.site.line]),
        )
        for costly, _ in lines[:limit]
    )


def _parts(site: Site) -> Iterator[tuple[CallSite, _Part]]:
    """Whose lines a site's events are: the user's own that reached it, and what is left is its own."""
    per_step, host_us = site.per_step, site.host_us_modelled
    for own in site.own:
        yield own.site, _Part(site, own.per_step, own.host_us_modelled)
        per_step -= own.per_step
        host_us -= own.host_us_modelled
    if not site.own or per_step > TINY or host_us > TINY:
        yield site.site, _Part(site, per_step, host_us)


def _beneath(profile: Profile, line: CallSite, parts: Sequence[_Part]) -> tuple[CostlyLine, ...]:
    groups: defaultdict[tuple[str, int], list[_Part]] = defaultdict(list)
    for part in parts:
        groups[part.site.site.path, part.site.site.line].append(part)
    groups.pop((line.path, line.line), None)
    lines = [
        (_costly_line(profile, group[0].site.site, group, 0.0), _blocking(group))
        for group in groups.values()
    ]
    return tuple(line for line, _ in sorted(lines, key=_dearest_first))


def _dearest_first(entry: tuple[CostlyLine, float]) -> tuple[object, ...]:
    line, blocking = entry
    return (-line.cost_us, -blocking, -sum(line.rates.values()), line.site)


def _blocking(parts: Sequence[_Part]) -> float:
    return sum(part.per_step for part in parts if part.site.is_blocking)


def _hot_functions(profile: Profile) -> Sequence[HotSpot]:
    """Functions, or lines where only those are known: together they would count the same time twice."""
    return [spot for spot in profile.hot_spots if spot.is_function] or profile.hot_spots


def _costly_line(
    profile: Profile, place: CallSite, parts: Sequence[_Part], own: float
) -> CostlyLine:
    cost = sum(part.host_us for part in parts) + own
    rates: defaultdict[EventKind, float] = defaultdict(float)
    costs: defaultdict[EventKind, float] = defaultdict(float)
    for part in parts:
        rates[part.site.kind] += part.per_step
        costs[part.site.kind] += part.host_us
    # What happens only outside the steps says nothing about them, unless nothing else is known.
    in_steps = [kind for kind in rates if rates[kind]] or list(rates)
    kinds = sorted(in_steps, key=lambda kind: (-costs[kind], -rates[kind], kind))
    step_us = (profile.time.modelled_ms_per_step or 0.0) * 1e3
    return CostlyLine(
        site=place,
        cost_us=cost,
        share=min(cost / step_us, 1.0) if step_us > 0 else None,
        # Rates of single ways are kept to six places: a hundred of them are good for four.
        rates={kind: round(rates[kind], 4) for kind in kinds},
        own_us=own,
    )
