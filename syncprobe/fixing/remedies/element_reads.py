"""Values read one by one that one ``tolist`` reads together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from syncprobe.fixing.effects import bound_names, changed_names
from syncprobe.fixing.guards import guarded
from syncprobe.fixing.remedies.reads import Read, reads_in
from syncprobe.fixing.remedy import remedy
from syncprobe.fixing.source import Draft, called, names_in, root_name, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.fixing.source import SourceFile

_RULES = ("SP100", "SP101", "SP103", "SP104", "SP106", "SP207")


@remedy("element-reads", *_RULES, title="one tolist() in place of a read per element")
def in_comprehensions(source: SourceFile, line: int) -> Iterator[Draft]:
    """Read a vector before a comprehension goes over it.

    Before: ``max(t.item() for t in row)``; after: ``max(row.tolist())``.
    """
    for node in source.on_line(line, cst.ListComp, cst.GeneratorExp):
        loop = node.for_in
        if loop.inner_for_in is None and loop.asynchronous is None:
            yield from _over_values(source, node, loop)
            yield from _over_indices(source, node, loop)


@remedy("loop-reads", *_RULES, title="one tolist() before the loop in place of a read per turn")
def in_loops(source: SourceFile, line: int) -> Iterator[Draft]:
    """Read a vector before a loop goes over its elements.

    Before: ``for t in rewards: total += t.item()``; after: ``for t in rewards.tolist(): total += t``.
    """
    for loop in source.on_line(line, cst.For):
        if loop.asynchronous is None:
            yield from _values_of_loop(source, loop)


@remedy("indexed-reads", *_RULES, title="one tolist() before the loop in place of a read per index")
def by_index(source: SourceFile, line: int) -> Iterator[Draft]:
    """Read a tensor before a loop that reads it by index.

    Before: ``for i in range(n): total += x[i].item()``; after: ``x_values = x.tolist()`` before the loop
    and ``total += x_values[i]`` in it. The loop must not change or rebind ``x``.
    """
    for loop in source.on_line(line, cst.For):
        statement = source.statement(loop)
        found = _indexed(source, loop)
        by_tensor: dict[str, list[Read]] = {}
        for read in found:
            by_tensor.setdefault(source.code(_tensor(read.value)), []).append(read)
        for code, reads in by_tensor.items():
            depth = len(_indices(reads[0].value))
            if statement is None or any(len(_indices(read.value)) != depth for read in reads):
                continue
            draft = Draft(source)
            name = source.free_name(_tensor(reads[0].value), "values")
            draft.add_before(loop, f"{name} = {guarded('table', code, depth)}.tolist()")
            for read in reads:
                indices = "".join(f"[{source.code(index)}]" for index in _indices(read.value))
                draft.replace(read.node, f"{name}{indices}")
            yield draft


def _over_values(
    source: SourceFile, node: cst.ListComp | cst.GeneratorExp, loop: cst.CompFor
) -> Iterator[Draft]:
    """``[t.item() for t in row]``."""
    if not isinstance(loop.target, cst.Name):
        return
    parts = [node.elt, *(test.test for test in loop.ifs)]
    reads = _all_uses_are_reads(parts, loop.target.value)
    if not reads:
        return
    row = source.code(loop.iter)
    ways = [f"{guarded(reads[0].sort, row)}.tolist()"]
    if source.torch and all(read.sort == "vector" for read in reads):
        ways.append(f"{source.torch}.stack({guarded('scalars', row)}).tolist()")
    for code in ways:
        draft = Draft(source)
        if reads[0].node is node.elt and not loop.ifs:
            draft.replace(node, code)
        else:
            draft.replace(loop.iter, code)
            for read in reads:
                draft.replace(read.node, loop.target.value)
        yield draft


def _over_indices(
    source: SourceFile, node: cst.ListComp | cst.GeneratorExp, loop: cst.CompFor
) -> Iterator[Draft]:
    """``[x[i].item() for i in range(n)]``."""
    reads = list(reads_in(node.elt))
    if len(reads) != 1 or reads[0].node is not node.elt or loop.ifs or called(loop.iter) != "range":
        return
    value, limits = reads[0].value, loop.iter.args if isinstance(loop.iter, cst.Call) else ()
    indices = _indices(value)
    if len(limits) != 1 or [source.code(each) for each in indices] != [source.code(loop.target)]:
        return
    tensor, limit = source.code(_tensor(value)), source.code(limits[0].value)
    whole = limit in {f"len({tensor})", f"{tensor}.shape[0]", f"{tensor}.size(0)"}
    draft = Draft(source)
    part = "" if whole else f"[:{limit}]"
    draft.replace(node, f"{guarded(reads[0].sort, tensor)}{part}.tolist()")
    yield draft


def _values_of_loop(source: SourceFile, loop: cst.For) -> Iterator[Draft]:
    rest = [each for each in walk(source.scope(loop)) if isinstance(each, cst.Name)]
    inside = set(walk(loop.body)) | set(walk(loop.target))
    for name, iterable in _bindings(loop.target, loop.iter):
        reads = _all_uses_are_reads([loop.body], name)
        is_used_elsewhere = any(each.value == name and each not in inside for each in rest)
        if not reads or is_used_elsewhere or name in bound_names(loop.body):
            continue
        draft = Draft(source)
        draft.replace(iterable, f"{guarded(reads[0].sort, source.code(iterable))}.tolist()")
        for read in reads:
            draft.replace(read.node, name)
        yield draft


def _bindings(
    target: cst.BaseExpression, iterable: cst.BaseExpression
) -> Iterator[tuple[str, cst.BaseExpression]]:
    """Which name of a loop goes over what: through ``enumerate`` and ``zip`` as well."""
    if isinstance(target, cst.Name):
        yield target.value, iterable
        return
    if not isinstance(target, cst.Tuple) or not isinstance(iterable, cst.Call):
        return
    targets = [element.value for element in target.elements]
    arguments = [argument.value for argument in iterable.args]
    if called(iterable) == "enumerate" and len(targets) == 2:
        yield from _bindings(targets[1], arguments[0])
    elif called(iterable) == "zip" and len(targets) == len(arguments):
        for each, argument in zip(targets, arguments, strict=True):
            if isinstance(each, cst.Name):
                yield each.value, argument


def _all_uses_are_reads(parts: Sequence[cst.CSTNode], name: str) -> list[Read]:
    """The reads of a name, if it is used for nothing else and they all want the same."""
    reads = [
        read
        for part in parts
        for read in reads_in(part)
        if isinstance(read.value, cst.Name) and read.value.value == name
    ]
    uses = sum(
        isinstance(each, cst.Name) and each.value == name for part in parts for each in walk(part)
    )
    return reads if len(reads) == uses and len({read.sort for read in reads}) == 1 else []


def _indexed(source: SourceFile, loop: cst.For) -> Iterator[Read]:
    """The reads by index in a loop of tensors that the loop leaves alone."""
    bound, changed = bound_names(loop), changed_names(loop.body)
    for read in reads_in(loop.body):
        if read.sort != "vector" or not isinstance(read.value, cst.Subscript):
            continue
        tensor, indices = _tensor(read.value), _indices(read.value)
        root = root_name(tensor)
        depends = any(not names_in(index).isdisjoint(bound) for index in indices)
        if root is not None and root not in bound | changed and depends:
            nested = [
                each for each in source.ancestors(read.node) if isinstance(each, cst.FunctionDef)
            ]
            if not nested or nested[0] is source.scope(loop):
                yield read


def _tensor(value: cst.BaseExpression) -> cst.BaseExpression:
    while isinstance(value, cst.Subscript):
        value = value.value
    return value


def _indices(value: cst.BaseExpression) -> list[cst.BaseExpression]:
    """``[i, j]`` for ``x[i][j]`` and for ``x[i, j]``; empty if there is a slice among them."""
    found: list[cst.BaseExpression] = []
    while isinstance(value, cst.Subscript):
        parts = [element.slice for element in value.slice]
        if not all(isinstance(part, cst.Index) for part in parts):
            return []
        found[:0] = [part.value for part in parts if isinstance(part, cst.Index)]
        value = value.value
    return found
