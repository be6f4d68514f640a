"""Reads of one block that can be made together, or once in place of several times."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final

import libcst as cst

from syncprobe.fixing.effects import touches
from syncprobe.fixing.guards import guarded
from syncprobe.fixing.remedies.reads import certain_reads
from syncprobe.fixing.remedy import remedy
from syncprobe.fixing.source import Draft, called, is_plain, names_in, owner, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.fixing.remedies.reads import Read
    from syncprobe.fixing.source import SourceFile

_RULES: Final = ("SP100", "SP101", "SP103", "SP104", "SP105", "SP106", "SP200", "SP201", "SP207")
_CONSUMERS: Final = (cst.Subscript, cst.Attribute, cst.BinaryOperation, cst.Comparison)
"""What uses an array at once, so that nobody can keep it and write to it."""


@remedy("read-once", *_RULES, title="one read in place of several of the same value")
def same_value(source: SourceFile, line: int) -> Iterator[Draft]:
    """Read a value once where a block reads it several times.

    Before: ``losses.append(loss.item())`` and ``print(loss.item())``; after: ``loss_value = loss.item()``
    before both. Nothing in between may bind or change what is read.
    """
    for run in runs(source, line):
        by_code: dict[str, list[tuple[cst.BaseStatement, cst.BaseExpression]]] = {}
        for statement in run:
            for read in (*_scalar_reads(statement), *_array_reads(source, statement)):
                by_code.setdefault(source.code(read), []).append((statement, read))
        for code, places in by_code.items():
            if len(places) > 1 and _stays(run, places):
                draft = Draft(source)
                name = source.free_name(owner(places[0][1]) or places[0][1], "value")
                draft.add_before(places[0][0], f"{name} = {code}")
                for _, read in places:
                    draft.replace(read, name)
                yield draft


@remedy("stacked-reads", *_RULES, title="one stacked read in place of several")
def together(source: SourceFile, line: int) -> Iterator[Draft]:
    """Read several scalars at once where a block reads one after the other.

    Before: ``log(policy_loss.item(), value_loss.item())``; after: ``policy_loss_value, value_loss_value =
    torch.stack([policy_loss, value_loss]).tolist()`` before it. All must have the same dtype.
    """
    if not source.torch:
        return
    for run in runs(source, line):
        reading = [each for each in run if any(certain_reads(each))]
        for first in range(len(reading)):
            group = _group(run, reading[first:])
            codes = dict.fromkeys(source.code(read.value) for _, read in group)
            if len(codes) > 1:
                yield _stacked(source, group)
                break


def _stacked(source: SourceFile, group: Sequence[tuple[cst.BaseStatement, Read]]) -> Draft:
    draft = Draft(source)
    names: dict[str, str] = {}
    for _, read in group:
        code = source.code(read.value)
        if code not in names:
            names[code] = _another_name(source, read, set(names.values()))
        draft.replace(read.node, names[code])
    values = guarded("scalars", f"[{', '.join(names)}]")
    draft.add_before(
        group[0][0], f"{', '.join(names.values())} = {source.torch}.stack({values}).tolist()"
    )
    return draft


def _another_name(source: SourceFile, read: Read, taken: set[str]) -> str:
    for ending in ("value", *(f"value{number}" for number in range(2, 99))):
        name = source.free_name(read.value, ending)
        if name not in taken:
            return name
    raise AssertionError("no statement reads that many values")


def _group(
    run: Sequence[cst.BaseStatement], reading: Sequence[cst.BaseStatement]
) -> list[tuple[cst.BaseStatement, Read]]:
    """The reads that can all be made where the first of them is."""
    start = run.index(reading[0])
    group: list[tuple[cst.BaseStatement, Read]] = []
    for statement in reading:
        before = run[start : run.index(statement)]
        reads = list(certain_reads(statement))
        if any(touches(before, names_in(read.value)) for read in reads):
            break
        group += [(statement, read) for read in reads]
    return group


def runs(source: SourceFile, line: int) -> Iterator[list[cst.BaseStatement]]:
    """The simple statements that are run one after the other with a line, whenever it is."""
    for statement in source.on_line(line, cst.SimpleStatementLine):
        block = source.block(statement)
        if statement not in block:
            continue
        place = block.index(statement)
        simple = lambda each: isinstance(each, cst.SimpleStatementLine)  # noqa: E731  # needed twice, nowhere else
        before = list(takewhile(simple, reversed(block[:place])))
        yield [*reversed(before), *takewhile(simple, block[place:])]


def _scalar_reads(statement: cst.BaseStatement) -> Iterator[cst.BaseExpression]:
    return (read.node for read in certain_reads(statement) if is_plain(read.value))


def _array_reads(source: SourceFile, statement: cst.BaseStatement) -> Iterator[cst.BaseExpression]:
    """``x.cpu().numpy()`` where the array is used at once."""
    for node in walk(statement):
        inner = owner(node)
        if called(node) == "numpy" and inner is not None and called(inner) in {"cpu", "detach"}:
            user = source.parent(node)
            root = owner(inner)
            while root is not None and called(root) in {"cpu", "detach"}:
                root = owner(root)
            if isinstance(user, _CONSUMERS) and root is not None and is_plain(root):
                assert isinstance(node, cst.Call)
                yield node


def _stays(
    run: Sequence[cst.BaseStatement],
    places: Sequence[tuple[cst.BaseStatement, cst.BaseExpression]],
) -> bool:
    """Nothing between the first read and the last can make the value another one."""
    first, last = run.index(places[0][0]), run.index(places[-1][0])
    # What the last statement itself binds, it binds after reading.
    between = run[first:last]
    read = places[0][1]
    is_of_object = isinstance(_read_root(read), cst.Attribute)
    steps = any(
        called(node) in {"step", "load_state_dict"} for each in between for node in walk(each)
    )
    return not touches(between, names_in(read)) and not (is_of_object and steps)


def _read_root(read: cst.BaseExpression) -> cst.BaseExpression:
    inner = owner(read)
    while inner is not None:
        read, inner = inner, owner(inner)
    return read
