"""Reads that only some turns of a loop need, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import libcst as cst

from syncprobe.fixing.effects import touches
from syncprobe.fixing.remedies.reads import certain_reads
from syncprobe.fixing.remedy import remedy
from syncprobe.fixing.source import Draft, called, is_plain, names_in, owner, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.fixing.source import SourceFile

_RULES: Final = ("SP100", "SP101", "SP103", "SP104", "SP105", "SP106", "SP200", "SP201")
_READING: Final = frozenset({"item", "cpu", "numpy", "tolist", "detach"})
_CLOCKS: Final = frozenset(
    {"time", "perf_counter", "monotonic", "process_time", "Event", "synchronize", "timeit"}
)
"""Where these are mentioned, a read may be there to wait."""


@remedy("read-when-needed", *_RULES, title="read only where a condition asks for the value")
def under_condition(source: SourceFile, line: int) -> Iterator[Draft]:
    """Move a read under the only condition whose block uses it.

    Before: ``value = loss.item()``, or ``text = f"{loss.item()}"``, and then ``if step % 100 == 0: print(value)``; after:
    the read is the first thing in that block. Nothing else may use the name, and nothing in between may change what is read.
    """
    for statement in source.on_line(line, cst.SimpleStatementLine):
        name = _assigned_name(statement)
        reads = list(certain_reads(statement))
        if name is None or not reads or not all(is_plain(read.value) for read in reads):
            continue
        block = source.block(statement)
        after = block[block.index(statement) + 1 :]
        chosen = [each for each in after if _mentions(each, name)]
        if len(chosen) != 1 or not _is_only_use(source, statement, chosen[0], name):
            continue
        between = after[: after.index(chosen[0])]
        head = chosen[0]
        assert isinstance(head, cst.If)
        steps = any(called(node) == "step" for each in between for node in walk(each))
        is_of_object = any(isinstance(read.value, cst.Attribute) for read in reads)
        if touches((*between, head.test), names_in(statement)) or (steps and is_of_object):
            continue
        first = head.body.body[0]
        if isinstance(head.body, cst.IndentedBlock) and isinstance(first, cst.BaseStatement):
            draft = Draft(source)
            draft.remove(statement)
            draft.add_before(first, source.code(statement))
            yield draft


@remedy("cheap-test-first", *_RULES, title="ask the host first, and the device only if it matters")
def cheap_first(source: SourceFile, line: int) -> Iterator[Draft]:
    """Turn the parts of a condition around, so that the device is asked only when the rest holds.

    Before: ``if loss > 10 and step % 100 == 0:``; after: ``if step % 100 == 0 and loss > 10:``. The part that
    moves forward compares host numbers and calls nothing.
    """
    for test in source.on_line(line, cst.BooleanOperation):
        is_and = isinstance(test.operator, cst.And)
        if is_and and _is_on_host(test.right) and not _is_on_host(test.left):
            draft = Draft(source)
            left, right = test.left.deep_clone(), test.right.deep_clone()
            draft.replace_node(test, test.with_changes(left=right, right=left))
            yield draft


@remedy("unused-read", "SP102", title="left out, because nobody uses the value")
def left_out(source: SourceFile, line: int) -> Iterator[Draft]:
    """Leave out a read whose value goes nowhere.

    Before: ``loss.item()`` alone, or ``value = loss.item()`` in a function that does not mention ``value`` again; after:
    nothing. Where something takes the time the wait may be meant, and a comment above it may be about more.
    """
    for statement in source.on_line(line, cst.SimpleStatementLine):
        scope = source.scope(statement)
        only = statement.body[0]
        name, value = _assigned_name(statement), getattr(only, "value", None)
        is_alone = isinstance(only, cst.Expr) and len(statement.body) == 1
        is_kept = name is not None and isinstance(scope, cst.FunctionDef)
        is_unused = is_alone or (is_kept and _mentions(scope, str(name)) == 1)
        has_comment = any(each.comment for each in statement.leading_lines)
        if not is_unused or value is None or not _is_bare_read(value) or has_comment:
            continue
        mentioned = {each.value for each in walk(scope) if isinstance(each, cst.Name)}
        if len(source.block(statement)) > 1 and mentioned.isdisjoint(_CLOCKS):
            draft = Draft(source)
            draft.remove(statement)
            yield draft


def _is_bare_read(node: cst.BaseExpression) -> bool:
    """``loss.item()``, ``loss.detach().cpu().numpy()``: nothing but a plain name is asked, and for no more than its value."""
    is_read, inner = False, owner(node)
    while inner is not None and called(node) in _READING:
        is_read, node, inner = True, inner, owner(inner)
    return is_read and is_plain(node)


def _assigned_name(statement: cst.SimpleStatementLine) -> str | None:
    only = statement.body[0] if len(statement.body) == 1 else None
    if isinstance(only, cst.Assign) and len(only.targets) == 1:
        target = only.targets[0].target
        return target.value if isinstance(target, cst.Name) else None
    return None


def _mentions(node: cst.CSTNode, name: str) -> int:
    return sum(isinstance(each, cst.Name) and each.value == name for each in walk(node))


def _is_only_use(
    source: SourceFile, statement: cst.CSTNode, block: cst.BaseStatement, name: str
) -> bool:
    """The body of the block, which is an ``if``, has all uses of the name in the file."""
    if not isinstance(block, cst.If) or _mentions(block.test, name):
        return False
    if block.orelse is not None and _mentions(block.orelse, name):
        return False
    inside = {*walk(statement), *walk(block.body)}
    return not any(
        isinstance(each, cst.Name) and each.value == name and each not in inside
        for each in walk(source.scope(statement))
    )


def _is_on_host(test: cst.BaseExpression) -> bool:
    """A comparison of a remainder, or of plain names with numbers: nothing is called or indexed."""
    return any(isinstance(each, cst.Modulo) for each in walk(test)) and not any(
        isinstance(each, (cst.Call, cst.Subscript, cst.Await)) for each in walk(test)
    )
