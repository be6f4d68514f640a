"""Losses and metrics that a loop reads in each turn although they are looked at later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import libcst as cst

from syncprobe.fixing.effects import bound_names, changed_names
from syncprobe.fixing.guards import guarded
from syncprobe.fixing.remedies.reads import read_of
from syncprobe.fixing.remedy import remedy
from syncprobe.fixing.source import LOOPS, Draft, called, is_plain, names_in, owner, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.fixing.remedies.reads import Read
    from syncprobe.fixing.source import SourceFile


@dataclass(frozen=True, slots=True)
class _Collected:
    """A statement that reads a value into a list or a sum."""

    statement: cst.SimpleStatementLine
    into: str
    read: Read
    is_sum: bool


_RULES: Final = ("SP100", "SP101", "SP103", "SP104")


@remedy("read-later", *_RULES, title="kept on the device in the loop, read when it is looked at")
def later(source: SourceFile, line: int) -> Iterator[Draft]:
    """Collect values on the device and read them together when the list or the sum is looked at.

    Before: ``total += loss.item()`` in a loop; after: ``loss_reads.append(loss.detach())``, and after the loop
    the same additions in the same order, of values that were read at once. In the loop the list or sum may
    only be looked at in blocks of an ``if`` below the statement; what is read must not be changed in place.
    """
    if not source.torch:
        return
    for statement in source.on_line(line, cst.SimpleStatementLine):
        found = _collected(statement)
        loop = _loop(source, statement)
        if found is None or loop is None or loop.orelse is not None:
            continue
        blocks = _blocks_that_look(source, found, loop)
        if blocks is None or not _is_local(source, found, loop):
            continue
        if not names_in(found.read.value).isdisjoint(changed_names(loop)):
            continue
        yield _deferred(source, found, loop, blocks)


def _deferred(
    source: SourceFile, found: _Collected, loop: cst.For | cst.While, blocks: list[cst.If]
) -> Draft:
    draft = Draft(source)
    named = found.read.value if is_plain(found.read.value) else cst.Name(found.into)
    reads = source.free_name(named, "reads")
    draft.add_before(loop, f"{reads} = []")
    value = source.code(found.read.value)
    draft.replace_statement(found.statement, f"{reads}.append({value}.detach())")
    values = f"{source.torch}.stack({guarded('scalars', reads)}).tolist()"
    if found.is_sum:
        each = source.free_name(named, "value")
        taken = f"for {each} in {values}:\n    {found.into} += {each}\n"
    else:
        taken = f"{found.into} += {values}\n"
    for block in blocks:
        first = block.body.body[0]
        assert isinstance(first, cst.BaseStatement)
        draft.add_before(first, f"{taken}{reads}.clear()\n")
    if _is_looked_at_after(source, found.into, loop):
        indented = "".join(f"    {each}\n" for each in taken.splitlines())
        draft.add_after(loop, f"if {reads}:\n{indented}")
    return draft


def _is_looked_at_after(source: SourceFile, name: str, loop: cst.CSTNode) -> bool:
    """Somebody may look at a name when a loop has ended: below it, in another turn around it, or from outside."""
    around = source.ancestors(loop)
    within = next(
        each for each in around if isinstance(each, (cst.FunctionDef, cst.Module, *LOOPS))
    )
    if not isinstance(within, cst.FunctionDef):
        return True
    if any(isinstance(each, (cst.Global, cst.Nonlocal)) for each in walk(within)):
        return True
    inside, start = set(walk(loop)), source.first_line(loop)
    return any(
        isinstance(each, cst.Name) and each.value == name and each not in inside
        for each in walk(within)
        if source.first_line(each) > start
    )


def _collected(statement: cst.SimpleStatementLine) -> _Collected | None:
    """``losses.append(loss.item())``, ``losses += [loss.item()]`` or ``total += loss.item()``."""
    only = statement.body[0] if len(statement.body) == 1 else None
    if isinstance(only, cst.AugAssign) and isinstance(only.operator, cst.AddAssign):
        added = only.value
        is_list = isinstance(added, cst.List)
        if isinstance(added, cst.List) and len(added.elements) == 1:
            added = added.elements[0].value
        read = read_of(added)
        if isinstance(only.target, cst.Name) and read is not None and read.sort == "vector":
            return _Collected(statement, only.target.value, read, is_sum=not is_list)
    if isinstance(only, cst.Expr) and called(only.value) == "append":
        into, call = owner(only.value), only.value
        read = read_of(call.args[0].value) if isinstance(call, cst.Call) and call.args else None
        if isinstance(into, cst.Name) and read is not None and read.sort == "vector":
            return _Collected(statement, into.value, read, is_sum=False)
    return None


def _loop(source: SourceFile, node: cst.CSTNode) -> cst.For | cst.While | None:
    for around in source.ancestors(node):
        if isinstance(around, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            return None
        if isinstance(around, LOOPS):
            return around
    return None


def _blocks_that_look(
    source: SourceFile, found: _Collected, loop: cst.For | cst.While
) -> list[cst.If] | None:
    """The blocks in the loop that look at what is collected; None if something else does, too."""
    block = source.block(found.statement)
    below = block[block.index(found.statement) + 1 :] if found.statement in block else ()
    looking = [
        each
        for each in below
        if isinstance(each, cst.If)
        and each.orelse is None
        and isinstance(each.body, cst.IndentedBlock)
        and found.into not in names_in(each.test)
        and found.into in names_in(each.body)
    ]
    allowed = {id(node) for each in (found.statement, *looking) for node in walk(each)}
    others = (
        node
        for node in walk(loop)
        if isinstance(node, cst.Name) and node.value == found.into and id(node) not in allowed
    )
    return None if any(others) else looking


def _is_local(source: SourceFile, found: _Collected, loop: cst.CSTNode) -> bool:
    """No function but the loop's own can see the list or sum: none is defined that mentions it."""
    scope = source.scope(loop)
    if found.into not in bound_names(scope):
        return False
    inner = (node for node in walk(scope) if isinstance(node, (cst.FunctionDef, cst.Lambda)))
    return not any(node is not scope and found.into in names_in(node) for node in inner)
