"""The nodes that run in one scope, and the functions of which a scope is made."""

from __future__ import annotations

import ast
from typing import Final

FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Scoped = Function | ast.Module
"""What has lines of its own."""


def scope_nodes(scope: Scoped) -> tuple[ast.AST, ...]:
    """The nodes of a function or of a module, without what is inside of functions and classes in it."""
    waiting: list[ast.AST] = list(scope.body)
    found = []
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))
    return tuple(found)


def names_in(node: ast.AST) -> set[str]:
    """The variables that are named inside a node."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
