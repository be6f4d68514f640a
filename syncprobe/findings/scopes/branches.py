"""Where a function decides by the values of its names."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from syncprobe.findings.scopes.nodes import names_in, scope_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from syncprobe.findings.scopes.nodes import Scoped

Branch = ast.If | ast.While
"""Not an assertion: that checks a number which is there, and nothing depends on it."""


class Branches:
    """The statements of a scope that ask for the value of a name before they go on.

    Args:
        scope: A function, or a module.
    """

    def __init__(self, scope: Scoped) -> None:
        self._by_name: defaultdict[str, list[Branch]] = defaultdict(list)
        for node in scope_nodes(scope):
            if isinstance(node, Branch):
                for name in names_in(node.test) - set(_only_looked_for(node.test)):
                    self._by_name[name].append(node)

    def on(self, names: Iterable[str]) -> Iterator[Branch]:
        """Those that ask for one of some names."""
        for name in names:
            yield from self._by_name.get(name, ())


def ends_loop(statement: ast.stmt) -> bool:
    """Whether a loop goes on, or whether anything is wrong, is all that a statement decides."""
    if isinstance(statement, ast.If):
        return isinstance(statement.body[-1], (ast.Break, ast.Raise)) and not statement.orelse
    return isinstance(statement, (ast.While, ast.Assert))


def _only_looked_for(test: ast.expr) -> Iterator[str]:
    """``loss is not None`` does not ask for a value."""
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            yield from names_in(node)
