"""Host indices that travel to the device once for every tensor they are used on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from syncprobe.fixing.effects import bound_names, touches
from syncprobe.fixing.guards import guarded
from syncprobe.fixing.remedy import remedy
from syncprobe.fixing.source import Draft, is_plain, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.fixing.source import SourceFile


@remedy("index-once", "SP203", title="one upload of an index in place of one per use")
def uploaded_once(source: SourceFile, line: int) -> Iterator[Draft]:
    """Upload an index where it is made, and use it there.

    Before: ``rows = order[a:b]``, then ``states[rows]`` and ``returns[rows]``; after: ``rows_uploaded =
    torch.as_tensor(rows, device=states.device)``, and both are indexed with that. It must be an array, a list
    or a host tensor, and stay what it is.
    """
    if not source.imports("torch"):
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


def _uploaded(
    source: SourceFile,
    statement: cst.BaseStatement,
    name: str,
    place: cst.BaseExpression,
    uses: Sequence[cst.Subscript],
) -> Draft:
    draft = Draft(source)
    uploaded = source.free_name(cst.Name(name), "uploaded")
    index = guarded("index", name)
    device = f"{source.code(place)}.device"
    draft.add_after(statement, f"{uploaded} = torch.as_tensor({index}, device={device})")
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
