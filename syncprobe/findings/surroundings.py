"""What a recording shows around a site: the loops it was in, and which of them are the training loop."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from syncprobe.findings import operations
from syncprobe.findings.loops import loops_at

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Sequence

    from syncprobe.events import CallSite
    from syncprobe.findings.loops import Loop
    from syncprobe.findings.source import SourceLines
    from syncprobe.profiles.model import Site

    _Neighbourhood = tuple[str, str, str, ast.AST | None]
    """File, function, region and innermost loop."""

_DECISION_WORDS: Final = frozenset(
    {"act", "action", "actions", "choose", "decide", "predict", "select"}
)
"""Words in the names of functions that choose actions."""


@dataclass(frozen=True)
class Chain:
    """The loops around a site, innermost first, up to the one whose turns are steps or batches."""

    inner: tuple[Loop, ...]
    """Loops inside a step."""
    turn: Loop | None = None
    """The loop that ends the chain."""
    outer: tuple[Loop, ...] = ()
    """Loops around that one: over epochs, over seeds."""

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops inside a step and the one over steps."""
        return self.inner if self.turn is None else (*self.inner, self.turn)


class Surroundings:
    """The sites of a recording, looked up by line, by region and by the loops around them.

    Args:
        sites: Of one recording.
        steps: How many steps it has; 0 if none were marked.
        source: Reads the lines behind the sites.
    """

    def __init__(self, sites: Sequence[Site], steps: int, source: SourceLines) -> None:
        self.steps = steps
        self.source = source
        self._sites = sites
        self._chains: dict[tuple[CallSite, ...], Chain] = {}
        self._kinds: dict[tuple[str, int, Callable[[Site], bool]], bool] = {}
        self._turns: dict[tuple[str, int, str, int], int] = {}
        self._updates: dict[tuple[str, ast.AST], bool] = {}
        self._lines: defaultdict[tuple[str, int, str], list[Site]] = defaultdict(list)
        for site in sites:
            place = site.site
            self._lines[place.path, place.line, site.region].append(site)

    @cached_property
    def has_convolution(self) -> bool:
        """Something looks at images, or at other large inputs."""
        return any("convolution" in site.operation for site in self._sites)

    def on_line(self, site: Site) -> Sequence[Site]:
        """All sites of the same line and region, this one included."""
        return self._lines[site.site.path, site.site.line, site.region]

    def in_loop(self, loop: Loop) -> tuple[Site, ...]:
        """All sites that happened inside a loop."""
        return self._by_loop[loop.frame.path, loop.number]

    def has_in_loop(self, loop: Loop, kind: Callable[[Site], bool]) -> bool:
        """A site of some kind happened inside a loop."""
        key = (loop.frame.path, loop.number, kind)
        if key not in self._kinds:
            self._kinds[key] = any(map(kind, self.in_loop(loop)))
        return self._kinds[key]

    def turns_between(self, inner: Loop, outer: Loop) -> int:
        """How often the outer of two loops goes round, as far as sites outside of the inner one show."""
        key = (inner.frame.path, inner.number, outer.frame.path, outer.number)
        if key not in self._turns:
            inside = {id(site) for site in self.in_loop(inner)}
            around = (site.count for site in self.in_loop(outer) if id(site) not in inside)
            self._turns[key] = min((count for count in around if count > 1), default=1)
        return self._turns[key]

    def reading_lines(self, site: Site) -> int:
        """How many lines of the same function, region and loop read values themselves."""
        return len(self._reading[self._neighbourhood(site)])

    def chain(self, site: Site) -> Chain:
        """The loops around a site, as it was reached most often."""
        stack = frames(site)
        if stack not in self._chains:
            self._chains[stack] = self._find_chain(stack)
        return self._chains[stack]

    def has_updates(self, loop: Loop) -> bool:
        """A backward pass or a step of an optimizer happens in it."""
        path, node = loop.frame.path, loop.node
        if (path, node) not in self._updates:
            lines = self._update_lines[path]
            # Of the lines from where it begins on, the first one tells.
            first = bisect_left(lines, loop.number)
            self._updates[path, node] = first < len(lines) and loop.holds(path, lines[first])
        return self._updates[path, node]

    def has_steps_inside(self, loop: Loop, *, oftener_than: int) -> bool:
        """The turns of another loop inside it are the steps; its own body does nothing of the sort."""
        if self._most_inside.get(loop.node, 0) <= oftener_than:
            return False
        return not (loop.makes_steps or loop.node in self._updating)

    @cached_property
    def _most_inside(self) -> dict[ast.AST, int]:
        """The count of the most frequent site in a loop over steps, by the loops around that."""
        most: dict[ast.AST, int] = {}
        for site in self._sites:
            for outer in self.chain(site).outer:
                most[outer.node] = max(most.get(outer.node, 0), site.count)
        return most

    @cached_property
    def _updating(self) -> frozenset[ast.AST]:
        """The loops over steps in which an update happens."""
        turns = (self.chain(site).turn for site in self._sites if _is_update(site))
        return frozenset(turn.node for turn in turns if turn is not None)

    @cached_property
    def _reading(self) -> defaultdict[_Neighbourhood, set[int]]:
        """The lines that read values themselves."""
        lines: defaultdict[_Neighbourhood, set[int]] = defaultdict(set)
        for site in self._sites:
            if operations.is_own_read(site):
                lines[self._neighbourhood(site)].add(site.site.line)
        return lines

    def _neighbourhood(self, site: Site) -> _Neighbourhood:
        place = site.site
        innermost = next(iter(self.chain(site).loops), None)
        node = None if innermost is None else innermost.node
        return place.path, place.function, site.region, node

    @cached_property
    def _by_loop(self) -> dict[tuple[str, int], tuple[Site, ...]]:
        found: defaultdict[tuple[str, int], list[Site]] = defaultdict(list)
        for site in self._sites:
            chain = self.chain(site)
            for loop in (*chain.loops, *chain.outer):
                found[loop.frame.path, loop.number].append(site)
        return {key: tuple(sites) for key, sites in found.items()}

    @cached_property
    def _update_lines(self) -> defaultdict[str, list[int]]:
        """The lines that led to a backward pass or to a step of an optimizer, file by file in order."""
        found = {
            (frame.path, frame.line)
            for site in self._sites
            if _is_update(site)
            for caller in (*site.callers, None)
            for frame in ((site.site,) if caller is None else caller.stack)
        }
        lines: defaultdict[str, list[int]] = defaultdict(list)
        for path, line in sorted(found):
            lines[path].append(line)
        return lines

    def _find_chain(self, stack: Sequence[CallSite]) -> Chain:
        loops = tuple(self._loops(stack))
        for place, loop in enumerate(loops):
            if self._is_turn(loop):
                return Chain(loops[:place], loop, loops[place + 1 :])
        return Chain(loops)

    def _loops(self, stack: Sequence[CallSite]) -> Iterator[Loop]:
        """The loops around a site, through all its callers.

        Loops inside a network's ``forward`` go over its layers, not over samples, and do not count;
        but the ``forward`` of a wrapper may ask an agent to act, once per sample.
        """
        is_deciding = False
        for frame in stack:
            name = _function_name(frame)
            is_deciding = is_deciding or not _DECISION_WORDS.isdisjoint(name.split("_"))
            line = self.source.line(frame)
            if line is not None and (name != "forward" or is_deciding):
                yield from loops_at(frame, line)

    def _is_turn(self, loop: Loop) -> bool:
        return loop.is_over_batches or loop.is_over_steps or self.has_updates(loop)


def frames(site: Site) -> tuple[CallSite, ...]:
    """The site's line and the lines that led to it most often, innermost first."""
    return (site.site, *(site.callers[0].stack if site.callers else ()))


def _is_update(site: Site) -> bool:
    return operations.is_backward(site) or operations.is_optimizer_step(site)


def _function_name(frame: CallSite) -> str:
    """The last name in a frame's function that a person gave: ``forward`` for a comprehension in it."""
    parts = [part for part in frame.function.split(".") if not part.startswith("<")]
    return parts[-1] if parts else ""
