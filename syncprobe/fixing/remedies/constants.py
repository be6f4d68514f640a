"""Tensors that are the same in every turn of a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import libcst as cst

from syncprobe.fixing.effects import bound_names, changed_names
from syncprobe.fixing.remedy import remedy
from syncprobe.fixing.source import LOOPS, Draft, called, names_in, owner, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.fixing.source import SourceFile

_MAKERS: Final = ("tensor", "as_tensor", "arange", "linspace", "eye", "full", "LongTensor")
_KEEPING: Final = frozenset(
    {"to", "cuda", "float", "long", "unsqueeze", "view", "reshape", "expand"}
)
_RULES: Final = ("SP200", "SP203", "SP204", "SP206", "SP400", "SP401", "SP402", "SP403")


@remedy("made-once", *_RULES, title="made once before the loop in place of in every turn")
def before_the_loop(source: SourceFile, line: int) -> Iterator[Draft]:
    """Make a constant tensor before the loop that uses it.

    Before: ``index = torch.tensor([0, 2], device=device)`` in the loop; after: the same before the loop. What
    it is made of must not change in the loop, and nothing in the loop may write to it.
    """
    for node in source.on_line(line, cst.Call):
        loop = _loop(source, node)
        if loop is None or not source.is_torch(_maker(node), *_MAKERS) or _is_part(source, node):
            continue
        if not names_in(node).isdisjoint(bound_names(loop) | changed_names(loop)):
            continue
        if any(isinstance(each, cst.Call) for each in _inner_calls(node)):
            continue
        name = _kept_as(source, node)
        if name is not None and name in changed_names(loop):
            continue
        draft = Draft(source)
        made = source.free_name(_maker(node), "kept") if name is None else f"{name}_kept"
        draft.add_before(loop, f"{made} = {source.code(node)}")
        draft.replace(node, made)
        yield draft


@remedy(
    "grads-to-none",
    "SP502",
    "SP503",
    "SP504",
    title="gradients dropped in place of filled with zeros",
)
def dropped_gradients(source: SourceFile, line: int) -> Iterator[Draft]:
    """Drop gradients, which costs nothing, in place of writing zeros into them.

    Before: ``optimizer.zero_grad(set_to_none=False)``; after: ``optimizer.zero_grad()``.
    """
    for call in source.on_line(line, cst.Call):
        given = source.code(call).partition("(")[2].replace(" ", "")
        if called(call) == "zero_grad" and given in {"set_to_none=False)", "False)"}:
            draft = Draft(source)
            draft.replace_node(call, call.with_changes(args=()))
            yield draft


def _loop(source: SourceFile, node: cst.CSTNode) -> cst.For | cst.While | None:
    """The innermost loop whose body the node is in, in the same function."""
    for around in source.ancestors(node):
        if isinstance(around, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            return None
        if isinstance(around, LOOPS) and any(each is node for each in walk(around.body)):
            return around
    return None


def _maker(node: cst.CSTNode) -> cst.CSTNode:
    inner = owner(node)
    while isinstance(inner, cst.Call) and called(node) in _KEEPING:
        node, inner = inner, owner(inner)
    return node


def _is_part(source: SourceFile, node: cst.CSTNode) -> bool:
    """A longer chain of the same sort begins with it, which is the one to move."""
    above = source.parent(node)
    return isinstance(above, cst.Attribute) and above.attr.value in _KEEPING


def _inner_calls(node: cst.Call) -> Iterator[cst.CSTNode]:
    """Calls among the arguments: they may give something else each time."""
    link: cst.CSTNode | None = node
    while isinstance(link, cst.Call):
        for argument in link.args:
            yield from (each for each in walk(argument) if isinstance(each, cst.Call))
        link = owner(link)


def _kept_as(source: SourceFile, node: cst.CSTNode) -> str | None:
    """The name that the statement gives to the tensor."""
    statement = source.parent(node)
    if isinstance(statement, cst.Assign) and isinstance(statement.targets[0].target, cst.Name):
        return statement.targets[0].target.value
    return None
