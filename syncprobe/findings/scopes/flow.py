"""Where the values of a function's names go: to other names, to an environment, to the caller."""

from __future__ import annotations

import ast
from collections import defaultdict
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

from syncprobe.findings.scopes.nodes import names_in, scope_nodes
from syncprobe.findings.syntax import is_environment_step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from syncprobe.findings.scopes.nodes import Scoped

_ROUNDS: Final = 3
"""A decision changes its name this often at most before the environment gets it."""


class Flow:
    """The names of one scope, and which of them are made of which.

    Args:
        scope: A function, or a module.
    """

    def __init__(self, scope: Scoped) -> None:
        nodes = scope_nodes(scope)
        self._assigned: list[set[str]] = []
        self._users: defaultdict[str, list[int]] = defaultdict(list)
        for node in nodes:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                for name in names_in(node.value):
                    self._users[name].append(len(self._assigned))
                self._assigned.append(assigned_names(node))
        self.acted_on = frozenset(_given_to_environments(nodes))
        """The names that an environment is given."""
        self.returned = frozenset(
            name
            for node in nodes
            if isinstance(node, ast.Return) and node.value is not None
            for name in names_in(node.value)
        )
        """The names in what the function returns."""
        self._made_of: dict[frozenset[str], frozenset[str]] = {}

    def made_of(self, names: Iterable[str]) -> frozenset[str]:
        """Some names, and those that are made of them."""
        start = frozenset(names)
        if start not in self._made_of:
            self._made_of[start] = self._follow(start)
        return self._made_of[start]

    def _follow(self, start: frozenset[str]) -> frozenset[str]:
        """Go through the assignments in order, a few rounds, and look only at those that use a known name."""
        known = set(start)
        waiting = [(0, place) for name in sorted(start) for place in self._users.get(name, ())]
        waiting.sort()
        seen = set(waiting)
        while waiting:
            turn, place = heappop(waiting)
            for name in self._assigned[place] - known:
                known.add(name)
                for user in self._users.get(name, ()):
                    # What stands further up gets its turn in the next round.
                    visit = (turn + (user <= place), user)
                    if visit[0] < _ROUNDS and visit not in seen:
                        seen.add(visit)
                        heappush(waiting, visit)
        return frozenset(known)


def _given_to_environments(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Call) and is_environment_step(node):
            for given in (*node.args, *node.keywords):
                yield from names_in(given)


def assigned_names(statement: ast.AST) -> set[str]:
    """The names that a statement binds, or adds to: ``actions.append(action)``, ``actions[i] = action``."""
    if isinstance(statement, ast.Assign):
        targets: Iterable[ast.expr] = statement.targets
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        targets = (statement.target,)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        is_added = isinstance(function, ast.Attribute) and function.attr in {"append", "extend"}
        targets = (function.value,) if is_added and isinstance(function, ast.Attribute) else ()
    else:
        return set()
    return {
        name
        for target in targets
        for name in names_in(target.value if isinstance(target, ast.Subscript) else target)
    }
