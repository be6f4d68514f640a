"""How programs spell the read of a value: what is read, and as what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import libcst as cst

from syncprobe.fixing.source import COMPREHENSIONS, FUNCTIONS, called, owner

if TYPE_CHECKING:
    from collections.abc import Iterator

CASTS: Final = {"float": "floats", "int": "integers"}
"""Built-in functions that read a tensor, and what its elements must be for ``tolist`` to give the same."""
_ON_THE_WAY: Final = frozenset({"detach", "cpu"})
"""Methods before ``item()`` that change nothing about its value."""
_NOT_ALWAYS_RUN: Final = (*COMPREHENSIONS, *FUNCTIONS, cst.IfExp, cst.BooleanOperation)


@dataclass(frozen=True, slots=True)
class Read:
    """One read of one value."""

    node: cst.BaseExpression
    """All of it: ``x.detach().item()``."""
    value: cst.BaseExpression
    """What is read: ``x``."""
    sort: str
    """The check that a vector of such values must pass."""


def read_of(node: cst.CSTNode) -> Read | None:
    """The read that a part is: ``x.item()``, ``float(x)``, ``int(x)``."""
    if not isinstance(node, cst.Call):
        return None
    if called(node) == "item" and not node.args:
        value = owner(node)
        return None if value is None else Read(node, _bare(value), "vector")
    is_cast = isinstance(node.func, cst.Name) and node.func.value in CASTS and len(node.args) == 1
    if is_cast and read_of(node.args[0].value) is None:
        return Read(node, _bare(node.args[0].value), CASTS[called(node)])
    return None


def reads_in(node: cst.CSTNode) -> Iterator[Read]:
    """The reads in a part, in the order in which they are written."""
    found = read_of(node)
    if found is not None:
        yield found
        return
    for child in node.children:
        yield from reads_in(child)


def certain_reads(node: cst.CSTNode) -> Iterator[Read]:
    """The ``item()`` calls in a part that are made exactly once whenever the part is run."""
    if isinstance(node, _NOT_ALWAYS_RUN):
        return
    found = read_of(node)
    if found is not None and found.sort == "vector":
        yield found
        return
    for child in node.children:
        yield from certain_reads(child)


def _bare(value: cst.BaseExpression) -> cst.BaseExpression:
    inner = owner(value)
    while inner is not None and called(value) in _ON_THE_WAY:
        value, inner = inner, owner(inner)
    return value
