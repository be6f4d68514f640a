"""What the names of a function are given, and where."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING

from syncprobe.findings.scopes.nodes import names_in, scope_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from syncprobe.findings.scopes.nodes import Function, Scoped


class Values:
    """What one name is given, from the first line to the last."""

    def __init__(self, assignments: list[ast.Assign]) -> None:
        ordered = sorted(assignments, key=lambda node: node.lineno)
        self._lines = [node.lineno for node in ordered]
        self._latest: list[ast.expr] = []
        for node in ordered:
            latest = self._latest[-1] if self._latest else None
            is_later = latest is None or node.value.lineno > latest.lineno
            self._latest.append(node.value if is_later or latest is None else latest)

    def before(self, line: int) -> ast.expr | None:
        """The value that is written last above a line."""
        place = bisect_left(self._lines, line)
        return self._latest[place - 1] if place else None


def last_values(function: Function) -> Mapping[str, Values]:
    """The values of each name that a function assigns, those of functions inside it included."""
    found: defaultdict[str, list[ast.Assign]] = defaultdict(list)
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for name in {target.id for target in node.targets if isinstance(target, ast.Name)}:
                found[name].append(node)
    return {name: Values(nodes) for name, nodes in found.items()}


class Bindings:
    """The statements of a scope that bind each name, or add to what it holds.

    Args:
        scope: A function, or a module.
    """

    def __init__(self, scope: Scoped) -> None:
        self.bound: defaultdict[str, list[ast.stmt]] = defaultdict(list)
        self.added_to: defaultdict[str, list[ast.stmt]] = defaultdict(list)
        """By the text of the place: ``total``, ``self.total``."""
        for node in scope_nodes(scope):
            if isinstance(node, ast.AugAssign):
                self.added_to[ast.unparse(node.target)].append(node)
            elif isinstance(node, ast.Assign):
                for name in {name for target in node.targets for name in names_in(target)}:
                    self.bound[name].append(node)
