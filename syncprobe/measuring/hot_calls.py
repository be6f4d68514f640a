"""The host's own time as a tree of calls: who called what takes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from syncprobe.measuring.hot_spots import user_calls
from syncprobe.profiles.host import HotCall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.events import CallSite
    from syncprobe.measuring.hot_spots import PathOf, Stacks

LEAST_SHARE: Final = 0.01
"""Calls below it are part of their caller's share and of nothing else."""
MOST_DEEP: Final = 40
"""Recursion beyond it counts as the last call that is kept."""


@dataclass(slots=True)
class _Node:
    seconds: float = 0.0
    own_seconds: float = 0.0
    callees: dict[CallSite, _Node] = field(default_factory=dict)


def hot_calls(stacks: Stacks, path_of: PathOf) -> tuple[HotCall, ...]:
    """The tree, each call followed by what it calls, dearest first; arguments as of :func:`hot_spots`."""
    root = _Node()
    for stack, seconds in stacks:
        calls = user_calls(stack, path_of)[:MOST_DEEP]
        if not calls:
            continue
        node = root
        node.seconds += seconds
        for function, _ in calls:
            node = node.callees.setdefault(function, _Node())
            node.seconds += seconds
        node.own_seconds += seconds
    return tuple(_flattened(root, root.seconds, depth=0))


def _flattened(node: _Node, whole: float, depth: int) -> Iterator[HotCall]:
    for site, callee in sorted(node.callees.items(), key=lambda item: -item[1].seconds):
        if callee.seconds < LEAST_SHARE * whole:
            continue
        yield HotCall(
            site=site,
            depth=depth,
            share=min(callee.seconds / whole, 1.0),
            own_share=min(callee.own_seconds / whole, 1.0),
        )
        yield from _flattened(callee, whole, depth + 1)
