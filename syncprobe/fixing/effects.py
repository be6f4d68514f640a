"""What statements do to names: bind them, or change what they stand for. Syntax only; nothing is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import libcst as cst

from syncprobe.fixing.source import called, names_in, owner, root_name, walk

if TYPE_CHECKING:
    from collections.abc import Iterable

_BINDING: Final = (
    cst.AssignTarget,
    cst.AnnAssign,
    cst.AugAssign,
    cst.NamedExpr,
    cst.For,
    cst.CompFor,
)
"""What gives values to its target."""
_PLACES: Final = (cst.Subscript, cst.Attribute)
"""Targets that are part of something."""


def bound_names(node: cst.CSTNode) -> set[str]:
    """The names that get another value somewhere in a part."""
    found: set[str] = set()
    for each in walk(node):
        if isinstance(each, _BINDING):
            found |= _targets(each.target)
        elif isinstance(each, cst.AsName):
            found |= _targets(each.name)
        elif isinstance(each, (cst.FunctionDef, cst.ClassDef)):
            found.add(each.name.value)
        elif isinstance(each, (cst.Global, cst.Nonlocal)):
            found |= {item.name.value for item in each.names}
        elif isinstance(each, cst.Del):
            found |= names_in(each.target)
    return found


def changed_names(node: cst.CSTNode) -> set[str]:
    """The names whose value a part changes in place: ``x += 1``, ``x[0] = 1``, ``x.add_(1)``, ``x.y = 1``."""
    found: set[str | None] = set()
    for each in walk(node):
        if isinstance(each, (cst.AssignTarget, cst.AugAssign)):
            places = (part for part in walk(each.target) if isinstance(part, _PLACES))
            found |= {root_name(place) for place in places}
            if isinstance(each, cst.AugAssign):
                found.add(root_name(each.target))
        elif called(each).endswith("_") and not called(each).endswith("__"):
            owned = owner(each)
            found.add(None if owned is None else root_name(owned))
    return {name for name in found if name is not None}


def touches(statements: Iterable[cst.CSTNode], names: set[str]) -> bool:
    """Some statement binds one of the names or changes what it stands for."""
    return any(not names.isdisjoint(bound_names(each) | changed_names(each)) for each in statements)


def _targets(target: cst.CSTNode) -> set[str]:
    if isinstance(target, cst.Name):
        return {target.value}
    if isinstance(target, (cst.Tuple, cst.List)):
        return set().union(*(_targets(item.value) for item in target.elements))
    return set()
