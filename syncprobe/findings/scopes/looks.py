"""Where the names of a function are looked at."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.findings.scopes.nodes import Function


class Looks:
    """The places where a function, and the functions inside it, look at names.

    Args:
        function: Whose names they are.
    """

    def __init__(self, function: Function) -> None:
        shared: set[str] = set()
        looks: defaultdict[str, list[ast.Name]] = defaultdict(list)
        for node in ast.walk(function):
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                shared.update(node.names)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                looks[node.id].append(node)
        self.shared = frozenset(shared)
        """The names that others can look at, too."""
        self._nodes = {name: sorted(found, key=_line) for name, found in looks.items()}

    def after(self, name: str, line: int) -> Iterator[ast.Name]:
        """Where a name is looked at below a line, from top to bottom."""
        nodes = self._nodes.get(name, [])
        return islice(nodes, bisect_right(nodes, line, key=_line), None)


def _line(node: ast.Name) -> int:
    return node.lineno
