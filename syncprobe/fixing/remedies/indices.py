"""Indices and masks of the host: uploaded once, and as places where the device would have to count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import libcst as cst
from libcst import matchers

from syncprobe.fixing.effects import bound_names, touches
from syncprobe.fixing.guards import guarded
from syncprobe.fixing.remedy import remedy
from syncprobe.fixing.source import Draft, called, is_plain, owner, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.fixing.source import SourceFile

_MAKERS: Final = ("tensor", "as_tensor", "from_numpy", "BoolTensor")
"""What makes a mask of host data."""
_PLAIN_ARGUMENTS: Final = [matchers.AtLeastN(matchers.Arg(keyword=None, star=""), n=1)]
_RANGE: Final = matchers.Call(func=matchers.Name("range"), args=_PLAIN_ARGUMENTS)
_COUNTED: Final = (
    _RANGE,
    matchers.Call(func=matchers.Name("list"), args=[matchers.Arg(_RANGE, keyword=None, star="")]),
    matchers.Call(
        func=matchers.Attribute(
            matchers.Name("np") | matchers.Name("numpy"), matchers.Name("arange")
        ),
        args=_PLAIN_ARGUMENTS,
    ),
)
"""Numbers that the host counts for an index, however they are written; torch's own way is looked for apart."""


@remedy("index-once", "SP203", title="one upload of an index in place of one per use")
def uploaded_once(source: SourceFile, line: int) -> Iterator[Draft]:
    """Upload an index where it is made, and use it there.

    Before: ``rows = order[a:b]``, then ``states[rows]`` and ``returns[rows]``; after: ``rows =
    torch.as_tensor(order[a:b], device=states.device)``. Where ``rows`` is used otherwise, too, it stays, and ``rows_uploaded``
    is made of it. It must be an array, a list or a host tensor, and stay what it is.
    """
    if not source.torch:
        return
    for node in source.on_line(line, cst.Subscript):
        name = _index(node)
        made = None if name is None else _binding(source, node, name)
        if name is None or made is None:
            continue
        statement, below = made
        uses = [
            each
            for part in below
            for each in walk(part)
            if isinstance(each, cst.Subscript) and _index(each) == name
        ]
        place = next((each.value for each in uses if is_plain(each.value)), None)
        if len(uses) > 1 and place is not None and not touches(below, {name}):
            yield _uploaded(source, statement, name, place, uses)


@remedy("counted-on-device", "SP203", title="an index that the device counts itself")
def counted(source: SourceFile, line: int) -> Iterator[Draft]:
    """Let the device count rows that the host counts for an index.

    Before: ``values[torch.arange(n), actions]``; after: ``values[torch.arange(n, device=values.device), actions]``.
    ``range(n)``, a list of it and ``np.arange(n)`` likewise.
    """
    draft, is_any = Draft(source), False
    for node in source.on_line(line, cst.Subscript) if source.torch else ():
        for element in node.slice if is_plain(node.value) else ():
            index = element.slice.value if isinstance(element.slice, cst.Index) else None
            numbers = None if index is None else _counted_numbers(source, index)
            if index is not None and numbers is not None:
                given = f"{numbers}, device={source.code(node.value)}.device"
                draft.replace(index, f"{source.torch}.arange({given})")
                is_any = True
    if is_any:
        yield draft


@remedy("mask-as-index", "SP302", "SP303", title="places in place of a mask that the host knows")
def places_of_mask(source: SourceFile, line: int) -> Iterator[Draft]:
    """Upload where a mask of the host is true, so that nobody has to ask the device how often it is.

    Before: ``mask = torch.tensor([s is not None for s in batch], device=device)`` and ``values[mask] = x``; after:
    ``mask = torch.tensor([...]).nonzero().flatten().to(device)``. The mask must be made of host data, have one
    dimension, and be used as an index only.
    """
    for node in source.on_line(line, cst.Subscript):
        name = _index(node)
        made = None if name is None else _binding(source, node, name)
        value = None if made is None else _assigned(made[0])
        host = None if value is None else _host_part(source, value)
        if name is None or made is None or value is None or host is None:
            continue
        uses = [
            each
            for part in made[1]
            for each in walk(part)
            if isinstance(each, cst.Subscript) and _index(each) == name
        ]
        if _mentions(source, node, name) == 1 + len(uses):
            mask, device = guarded("mask", host[0]), host[1]
            draft = Draft(source)
            draft.replace(value, f"{mask}.nonzero().flatten().to({device})")
            yield draft


def _counted_numbers(source: SourceFile, index: cst.BaseExpression) -> str | None:
    """``1, n`` for ``torch.arange(1, n)`` on the host, and for other ways to write it."""
    if not isinstance(index, cst.Call):
        return None
    if source.is_torch(index, "arange"):
        keywords = {each.keyword.value for each in index.args if each.keyword is not None}
        if not index.args or keywords - {"dtype"} or any(each.star for each in index.args):
            return None
    elif not matchers.matches(index, matchers.OneOf(*_COUNTED)):
        return None
    elif called(index) == "list":
        index = cst.ensure_type(index.args[0].value, cst.Call)
    return ", ".join(source.code(each).rstrip(", ") for each in index.args)


def _mentions(source: SourceFile, node: cst.CSTNode, name: str) -> int:
    """How often a name is written in the function that a part is in."""
    scope = walk(source.scope(node))
    return sum(isinstance(each, cst.Name) and each.value == name for each in scope)


def _assigned(statement: cst.BaseStatement) -> cst.BaseExpression | None:
    """What a statement gives to its one name."""
    line = cst.ensure_type(statement, cst.SimpleStatementLine)
    only = line.body[0] if len(line.body) == 1 else None
    return only.value if isinstance(only, cst.Assign) and len(only.targets) == 1 else None


def _host_part(source: SourceFile, value: cst.BaseExpression) -> tuple[str, str] | None:
    """How a tensor is made on the host, and on which device it is wanted."""
    if not isinstance(value, cst.Call):
        return None
    inner = owner(value)
    if called(value) == "to" and len(value.args) == 1 and value.args[0].keyword is None:
        is_made = inner is not None and source.is_torch(inner, *_MAKERS)
        return (source.code(inner), source.code(value.args[0].value)) if inner and is_made else None
    devices = [each for each in value.args if each.keyword and each.keyword.value == "device"]
    if len(devices) != 1 or not source.is_torch(value, *_MAKERS):
        return None
    rest = [each for each in value.args if each is not devices[0]]
    rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return source.code(value.with_changes(args=rest)), source.code(devices[0].value)


def _uploaded(
    source: SourceFile,
    statement: cst.BaseStatement,
    name: str,
    place: cst.BaseExpression,
    uses: Sequence[cst.Subscript],
) -> Draft:
    draft = Draft(source)
    device = f"{source.code(place)}.device"
    value = _assigned(statement)
    if value is not None and _mentions(source, statement, name) == 1 + len(uses):
        index = guarded("index", source.code(value))
        draft.replace(value, f"{source.torch}.as_tensor({index}, device={device})")
        for use in uses:
            draft.concerns(use)
        return draft
    uploaded = source.free_name(cst.Name(name), "uploaded")
    index = guarded("index", name)
    draft.add_after(statement, f"{uploaded} = {source.torch}.as_tensor({index}, device={device})")
    for use in uses:
        draft.replace(use.slice[0].slice, uploaded)
    return draft


def _index(node: cst.Subscript) -> str | None:
    """``rows`` for ``states[rows]``."""
    if len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
        return None
    value = node.slice[0].slice.value
    return value.value if isinstance(value, cst.Name) else None


def _binding(
    source: SourceFile, node: cst.CSTNode, name: str
) -> tuple[cst.BaseStatement, Sequence[cst.BaseStatement]] | None:
    """The statement above a part, in a block around it, that binds a name, and what follows it there."""
    for statement in (node, *source.ancestors(node)):
        if isinstance(statement, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            return None
        if not isinstance(statement, cst.BaseStatement):
            continue
        block = source.block(statement)
        above = block[: block.index(statement)] if statement in block else ()
        for place in reversed(range(len(above))):
            if name in bound_names(above[place]):
                is_simple = isinstance(above[place], cst.SimpleStatementLine)
                return (above[place], block[place + 1 :]) if is_simple else None
    return None
