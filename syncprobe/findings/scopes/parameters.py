"""Which names of a function are lists of a network's parameters."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from syncprobe.findings.scopes.flow import assigned_names
from syncprobe.findings.scopes.nodes import names_in, scope_nodes
from syncprobe.findings.syntax import identifier

if TYPE_CHECKING:
    from syncprobe.findings.scopes.nodes import Scoped

_WORD: Final = "param"
_BUILT: Final = (ast.List, ast.ListComp, ast.Call)


def is_of_parameters(iterable: ast.expr, lists: frozenset[str]) -> bool:
    """What a loop goes over is called after parameters, or is a list of them."""
    is_named = any(_WORD in identifier(node).lower() for node in ast.walk(iterable))
    return is_named or not lists.isdisjoint(names_in(iterable))


def lists_of_parameters(scope: Scoped) -> frozenset[str]:
    """The names of lists that are made of parameters, at once or one by one in a loop over them."""
    found: set[str] = set()
    for node in scope_nodes(scope):
        if isinstance(node, ast.Assign) and isinstance(node.value, _BUILT):
            is_list = _is_list(node.value) and is_of_parameters(node.value, frozenset())
            found |= assigned_names(node) if is_list else set()
        elif isinstance(node, (ast.For, ast.AsyncFor)) and is_of_parameters(node.iter, frozenset()):
            appended = (part for part in ast.walk(node) if isinstance(part, ast.Expr))
            found |= {name for part in appended for name in assigned_names(part)}
    return frozenset(found)


def _is_list(value: ast.expr) -> bool:
    """``[...]`` or ``list(...)``."""
    return not isinstance(value, ast.Call) or identifier(value.func) in {"list", "tuple", "sorted"}
