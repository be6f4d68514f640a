"""What a remedy is: the findings it cures, and how it rewrites the line they are about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import libcst as cst

from syncprobe.fixing import guards
from syncprobe.fixing.source import called
from syncprobe.registry import Registry

if TYPE_CHECKING:
    from syncprobe.fixing.source import Draft, SourceFile

Proposer = Callable[["SourceFile", int], Iterator["Draft"]]
"""Rewrites of a file that cure a line, the most likely first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """One mechanical way to make a line wait less."""

    name: str
    cures: frozenset[str]
    """Ids of the rules whose findings it may cure."""
    title: str
    """What it does, in one line."""
    propose: Proposer
    """Its docstring shows the code before and after."""


REMEDIES: Final[Registry[Remedy]] = Registry("remedy")


def remedy(name: str, *cures: str, title: str) -> Callable[[Proposer], Proposer]:
    """Register a proposer as a remedy."""

    def register(propose: Proposer) -> Proposer:
        REMEDIES.add(name, Remedy(name=name, cures=frozenset(cures), title=title, propose=propose))
        return propose

    return register


def unguarded(text: str) -> str:
    """The text without the checks that only trials need."""
    return cst.parse_module(text).visit(_Unguarding()).code if guards.PREFIX in text else text


class _Unguarding(cst.CSTTransformer):
    def leave_Call(  # noqa: N802  # libcst's name
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        if called(original_node).startswith(guards.PREFIX):
            return updated_node.args[0].value
        return updated_node
