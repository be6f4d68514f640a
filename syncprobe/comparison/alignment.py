"""Puts the lines of two versions of a file side by side."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from syncprobe.profiles.model import Site

SAME_TEXT: Final = 1.0
SAME_FUNCTION: Final = 0.5
UNMOVED: Final = 0.01
"""Decides only between lines that are equally alike in everything else."""
MOST_PAIRS: Final = 160_000
"""So many pairs of lines are compared at once; files that differ in more are cut where they agree."""
BLOCK: Final = 400
"""How many lines are compared at once where nothing agrees."""

Doing = tuple[str, str, str, bool]
"""Kind, operation, region and whether it blocks: what tells the sites of one line apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """All that one line does."""

    number: int
    function: str
    text: str
    """As it was written; empty if nobody read it."""
    sites: Mapping[Doing, Site]


Aligned = list[tuple[Line | None, Line | None]]


def aligned(before: Sequence[Line], after: Sequence[Line]) -> Aligned:
    """The pairing in source order that makes lines most alike; exact unless very many lines differ."""
    head = _equal_at_start(before, after)
    rest, others = before[head:], after[head:]
    tail = _equal_at_start(rest[::-1], others[::-1])
    middle = (rest[: len(rest) - tail], others[: len(others) - tail])
    return [
        *zip(before[:head], after[:head], strict=True),
        *(pair for window in _windows(*middle) for pair in _most_alike(*window)),
        *zip(rest[len(rest) - tail :], others[len(others) - tail :], strict=True),
    ]


def _equal_at_start(before: Sequence[Line], after: Sequence[Line]) -> int:
    """How many lines say and do the same in the same place: nothing could be more alike."""
    both = zip(before, after, strict=False)
    return sum(1 for _ in takewhile(lambda pair: _is_unchanged(*pair), both))


def _is_unchanged(first: Line, second: Line) -> bool:
    return (
        (first.number, first.function, first.text) == (second.number, second.function, second.text)
        and first.sites.keys() == second.sites.keys()
        and all(site.per_step == second.sites[key].per_step for key, site in first.sites.items())
    )


def _windows(
    before: Sequence[Line], after: Sequence[Line]
) -> Iterator[tuple[Sequence[Line], Sequence[Line]]]:
    """Stretches that belong together, each small enough to compare all of its lines."""
    if len(before) * len(after) <= MOST_PAIRS:
        yield before, after
        return
    cuts = [(0, 0), *_agreeing(before, after), (len(before), len(after))]
    for (first, second), (first_end, second_end) in pairwise(cuts):
        old, new = before[first:first_end], after[second:second_end]
        if len(old) * len(new) <= MOST_PAIRS:
            yield old, new
        else:
            for start in range(0, max(len(old), len(new)), BLOCK):
                yield old[start : start + BLOCK], new[start : start + BLOCK]


def _agreeing(before: Sequence[Line], after: Sequence[Line]) -> list[tuple[int, int]]:
    """Places in both that surely are the same line, in the order of both."""
    found = {**_matches(before, after, _in_place), **_matches(before, after, _says)}
    return _in_order(sorted(found.items()))


def _in_place(line: Line) -> Hashable:
    return line.number, line.function, line.text


def _says(line: Line) -> Hashable:
    return line.function, line.text, frozenset(line.sites)


def _matches(
    before: Sequence[Line], after: Sequence[Line], key: Callable[[Line], Hashable]
) -> dict[int, int]:
    """Places of lines that agree in something that no other line of their file has."""
    olds, news = [key(line) for line in before], [key(line) for line in after]
    old_counts, new_counts = Counter(olds), Counter(news)
    places = {each: place for place, each in enumerate(news) if new_counts[each] == 1}
    return {
        place: places[each]
        for place, each in enumerate(olds)
        if old_counts[each] == 1 and each in places
    }


def _in_order(matches: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest choice of matches in which the second places rise, too."""
    ends: list[int] = []
    last: list[int] = []
    came_from: list[int] = []
    for place, (_, second) in enumerate(matches):
        length = bisect_left(ends, second)
        came_from.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [second]
        last[length : length + 1] = [place]
    chosen: list[tuple[int, int]] = []
    place = last[-1] if last else -1
    while place >= 0:
        chosen.append(matches[place])
        place = came_from[place]
    return chosen[::-1]


def _most_alike(before: Sequence[Line], after: Sequence[Line]) -> Aligned:
    """The best pairing of a stretch."""
    best = _best_scores(before, after)
    result: Aligned = []
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


def _best_scores(before: Sequence[Line], after: Sequence[Line]) -> list[list[float]]:
    """The best total likeness of what follows each pair of places."""
    best = [[0.0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for i in reversed(range(len(before))):
        for j in reversed(range(len(after))):
            together = best[i + 1][j + 1] + _likeness(before[i], after[j])
            best[i][j] = max(best[i + 1][j], best[i][j + 1], together)
    return best


def _likeness(first: Line, second: Line) -> float:
    """0 for lines with nothing in common, most for lines that say and do the same equally often."""
    common = first.sites.keys() & second.sites.keys()
    is_same_text = bool(first.text) and first.text == second.text
    if not common and not is_same_text:
        return 0.0
    equal = sum(first.sites[key].per_step == second.sites[key].per_step for key in common)
    union = len(first.sites) + len(second.sites) - len(common)
    return (
        (len(common) + equal) / (2 * union)
        + SAME_TEXT * is_same_text
        + SAME_FUNCTION * (first.function == second.function)
        + UNMOVED * (first.number == second.number)
    )
