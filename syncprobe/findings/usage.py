"""Whether anybody uses a value that a line reads: follows it to the callers that throw it away."""

from __future__ import annotations

import ast
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from syncprobe.findings.operations import READ_BUILTINS, READ_METHODS
from syncprobe.findings.scopes.looks import Looks
from syncprobe.findings.syntax import called_name, own_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from syncprobe.events import CallSite
    from syncprobe.findings.source import SourceLines
    from syncprobe.findings.syntax import CodeLine
    from syncprobe.profiles.model import Site

Places = frozenset[int | None]
"""Where a function's result holds the value: positions in a returned tuple, or None for the result itself."""

NOWHERE: Places = frozenset()
_WHOLE: Places = frozenset({None})
_CASTS: Final = frozenset({"float", "int", "bool", "round", "abs", "asarray", "array"})


def unused_share(site: Site, source: SourceLines) -> float:
    """The share of a site's reads whose value nobody uses, as far as the source shows; 0 if in doubt."""
    line = source.line(site.site)
    if line is None or site.site.function.endswith(("comp>", "<genexpr>")):
        return 0.0
    places = _places_of_reads(line)
    if places is None:
        return 0.0
    if not places:
        return 1.0
    total = sum(caller.count for caller in site.callers)
    thrown_away = sum(
        caller.count
        for caller in site.callers
        if _is_thrown_away(places, site.site, caller.stack, source)
    )
    return thrown_away / total if total else 0.0


def reads_on(line: CodeLine) -> list[ast.Call]:
    """The calls that bring values to the host, one for each value: ``x.cpu().numpy()`` is one."""
    reads = [call for call in line.calls if _is_read(call)]
    return [read for read in reads if not any(_is_read(inner) for inner in _receivers(read))]


def _is_thrown_away(
    places: Places, inner: CallSite, stack: Iterable[CallSite], source: SourceLines
) -> bool:
    """Follow a returned value outwards until a caller drops it or uses it."""
    for frame in stack:
        line = source.line(frame)
        if line is None:
            return False
        followed = _follow_all(calls_of(inner.function, line), places, line)
        if followed is None:
            return False
        if not followed:
            return True
        places, inner = followed, frame
    return False


def _places_of_reads(line: CodeLine) -> Places | None:
    """Where the values read on a line end up in the function's result; None if the function uses one."""
    return _follow_all(reads_on(line), _WHOLE, line)


def _is_read(call: ast.Call) -> bool:
    is_method = isinstance(call.func, ast.Attribute)
    return called_name(call) in (READ_METHODS if is_method else READ_BUILTINS)


def _receivers(call: ast.Call) -> Iterator[ast.Call]:
    """The calls that a chain of methods starts with, or that a cast is made of."""
    node: ast.expr = call
    while True:
        if isinstance(node, ast.Call):
            is_cast = isinstance(node.func, ast.Name) and len(node.args) == 1
            node = node.args[0] if is_cast else node.func
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        else:
            return
        if isinstance(node, ast.Call):
            yield node


def calls_of(function: str, line: CodeLine) -> list[ast.Call]:
    """The calls on a line that may have run a function."""
    name = function.rpartition(".")[2]
    named = [call for call in line.calls if called_name(call) == name]
    if named:
        return named
    # `return self.table[kind](...)`: with a single call in the statement there is no doubt.
    calls = [node for node in own_nodes(line.statement) if isinstance(node, ast.Call)]
    return calls if len(calls) == 1 else []


def _follow_all(calls: Iterable[ast.Call], places: Places, line: CodeLine) -> Places | None:
    """Where the results of several calls go, taken together; None if one is used or there are none."""
    ends = [_follow(call, places, line) for call in calls]
    if not ends or None in ends:
        return None
    return frozenset().union(*(end for end in ends if end is not None))


def _follow(node: ast.expr, places: Places, line: CodeLine) -> Places | None:
    """From places in a value to places in the function's result: none if dropped, None if used."""
    parent = line.module.parents[node]
    while places == _WHOLE and _continues_chain(node, parent):
        assert isinstance(parent, ast.expr), "a chain is made of expressions"
        node, parent = parent, line.module.parents[parent]
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return _follow_item(parent, places, line)
    if isinstance(parent, ast.Expr):
        return NOWHERE
    if isinstance(parent, ast.Return):
        return places
    if isinstance(parent, ast.Tuple) and places == _WHOLE:
        return _follow_element(node, parent, line)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        return _follow_assignment(parent.targets[0], places, line)
    return None


def _continues_chain(node: ast.expr, parent: ast.AST) -> bool:
    """``loss.cpu()`` in ``loss.cpu().numpy()[0]``: what is made of the value is used or dropped with it."""
    if isinstance(parent, (ast.Attribute, ast.Subscript)):
        return parent.value is node
    if not isinstance(parent, ast.Call):
        return False
    return parent.func is node or (parent.args == [node] and called_name(parent) in _CASTS)


def _follow_item(item: ast.Subscript, places: Places, line: CodeLine) -> Places | None:
    """``f()[0]`` takes one element of the result and drops the others."""
    if not isinstance(item.slice, ast.Constant) or None in places:
        return None
    return _follow(item, _WHOLE, line) if item.slice.value in places else NOWHERE


def _follow_element(node: ast.expr, parent: ast.Tuple, line: CodeLine) -> Places | None:
    """An element of a tuple that is returned, or that is assigned to names."""
    position = parent.elts.index(node)
    outer = line.module.parents[parent]
    if isinstance(outer, ast.Return):
        return frozenset({position})
    if isinstance(outer, ast.Assign) and len(outer.targets) == 1:
        target = outer.targets[0]
        if isinstance(target, ast.Tuple) and len(target.elts) == len(parent.elts):
            return _follow_name(target.elts[position], line)
    return None


def _follow_assignment(target: ast.expr, places: Places, line: CodeLine) -> Places | None:
    if places == _WHOLE:
        return _follow_name(target, line)
    if not isinstance(target, ast.Tuple):
        return None
    followed: Places = NOWHERE
    for place in places:
        if place is None or place >= len(target.elts):
            return None
        ends = _follow_name(target.elts[place], line)
        if ends is None:
            return None
        followed |= ends
    return followed


def _follow_name(target: ast.expr, line: CodeLine) -> Places | None:
    """Where the value of a local name goes: it may only be returned, or never be looked at again."""
    if not isinstance(target, ast.Name) or line.function is None:
        return None
    looks = line.module.once(Looks, line.function)
    if target.id in looks.shared:
        return None
    places: Places = NOWHERE
    for node in _later(looks, target.id, line):
        parent = line.module.parents[node]
        if isinstance(parent, ast.Return):
            places |= _WHOLE
        elif isinstance(parent, ast.Tuple) and isinstance(line.module.parents[parent], ast.Return):
            places |= {parent.elts.index(node)}
        else:
            return None
    return places


def _later(looks: Looks, name: str, line: CodeLine) -> Iterator[ast.Name]:
    """Where a name is looked at after the line's statement, a loop's next turn included."""
    statement = line.statement
    last = statement.end_lineno or line.number
    yield from looks.after(name, last)
    if line.loops:
        yield from takewhile(lambda node: node.lineno < statement.lineno, looks.after(name, 0))
