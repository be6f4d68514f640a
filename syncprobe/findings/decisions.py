"""What waits for a value that a line reads: an environment, or a branch of the program."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from syncprobe.findings.scopes.branches import Branches
from syncprobe.findings.scopes.flow import Flow, assigned_names
from syncprobe.findings.syntax import LOOPS, environment_steps
from syncprobe.findings.usage import calls_of, reads_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.events import CallSite
    from syncprobe.findings.scopes.branches import Branch
    from syncprobe.findings.source import SourceLines
    from syncprobe.findings.syntax import CodeLine
    from syncprobe.profiles.model import Site


def reaches_environment(site: Site, source: SourceLines) -> bool:
    """The one value that a line reads goes to an environment, as far as the source shows."""
    line = source.line(site.site)
    if line is None:
        return False
    reads = reads_on(line)
    stack = site.callers[0].stack if site.callers else ()
    return len(reads) == 1 and _reaches(reads, line, (site.site, *stack), source)


def branches_on(line: CodeLine) -> tuple[Branch, ...]:
    """The branches that wait for the number that a line gives a name, in the same turn of its loop.

    What is decided after the loop is decided by whatever was gathered in it, and could be read there.
    """
    statement = line.statement
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or not _is_number(statement.value):
        return ()
    around = next((loop for loop in line.loops if isinstance(loop, LOOPS)), None)
    return tuple(
        branch
        for branch in line.of_scope(Branches).on(assigned_names(statement))
        if around is None or _is_part(branch, around)
        if branch is around or branch.lineno > line.number
    )


def _is_number(value: ast.expr | None) -> bool:
    """What is read is named itself, not put among other things."""
    while isinstance(value, ast.Call) and value.args and not isinstance(value.func, ast.Attribute):
        value = value.args[0]  # such as float(...)
    return isinstance(value, (ast.Call, ast.BinOp, ast.Compare, ast.UnaryOp))


def _reaches(
    values: Sequence[ast.AST], line: CodeLine, stack: Sequence[CallSite], source: SourceLines
) -> bool:
    """One of some expressions on a line ends up in an environment, here or in a caller it is returned to."""
    if any(_is_part(value, call) for call in environment_steps(line.statement) for value in values):
        return True
    flow = line.of_scope(Flow)
    names = flow.made_of(_given(values, line))
    if not flow.acted_on.isdisjoint(names):
        return True
    is_returned = isinstance(line.statement, ast.Return) or not flow.returned.isdisjoint(names)
    if len(stack) < 2 or not is_returned:
        return False
    caller = source.line(stack[1])
    return caller is not None and _reaches(
        calls_of(stack[0].function, caller), caller, stack[1:], source
    )


def _given(values: Sequence[ast.AST], line: CodeLine) -> set[str]:
    """The names that the line gives a value to."""
    is_there = any(_is_part(value, line.statement) for value in values)
    return assigned_names(line.statement) if is_there else set()


def _is_part(node: ast.AST, of: ast.AST) -> bool:
    return any(child is node for child in ast.walk(of))
