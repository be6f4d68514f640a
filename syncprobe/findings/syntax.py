"""What the text around a line says: its statement, its loops, its calls. Syntax only; nothing is run."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
STEP_WORDS: Final = frozenset({"step", "backward", "learn", "train"})
"""Words in the names of calls that make a loop the training loop itself: one turn is one step or update."""
_BLOCKS: Final = ("body", "orelse", "finalbody", "handlers", "cases")


@dataclass(frozen=True)
class Module:
    """A parsed file."""

    tree: ast.Module
    parents: Mapping[ast.AST, ast.AST] = field(repr=False)
    statements: Mapping[int, ast.stmt] = field(repr=False)
    """The innermost statement of each line."""

    @classmethod
    def parse(cls, text: str) -> Module:
        """Parse a file's text.

        Raises:
            SyntaxError: The text is not Python.
            ValueError: The text holds null bytes.
        """
        tree = ast.parse(text)
        parents: dict[ast.AST, ast.AST] = {}
        statements: dict[int, ast.stmt] = {}
        # Breadth first, so that inner statements overwrite the ones around them.
        for node in ast.walk(tree):
            parents.update((child, node) for child in ast.iter_child_nodes(node))
            if isinstance(node, ast.stmt):
                last = node.lineno if node.end_lineno is None else node.end_lineno
                statements.update((line, node) for line in range(node.lineno, last + 1))
        return cls(tree, parents, statements)

    def line(self, number: int) -> CodeLine | None:
        """A line that belongs to a statement; None for blank lines, comments and lines that are not there."""
        statement = self.statements.get(number)
        return None if statement is None else CodeLine(self, number, statement)


@dataclass(frozen=True)
class CodeLine:
    """One line of a parsed file, with the statement it belongs to."""

    module: Module
    number: int
    statement: ast.stmt

    @cached_property
    def calls(self) -> tuple[ast.Call, ...]:
        """The calls written on this line, in the statement's own text (not in the blocks below it)."""
        return tuple(node for node in self._own_nodes if isinstance(node, ast.Call))

    @cached_property
    def call_names(self) -> frozenset[str]:
        """What is called on this line: ``item``, ``tensor``; without what stands before the dot."""
        return frozenset(called_name(call) for call in self.calls)

    @cached_property
    def has_subscript(self) -> bool:
        """Something is indexed on this line."""
        return any(isinstance(node, ast.Subscript) for node in self._own_nodes)

    @cached_property
    def updates_subscript(self) -> bool:
        """The statement writes to an indexed place: ``x[i] = y`` or ``x[i] += y``."""
        targets: list[ast.expr] = []
        if isinstance(self.statement, ast.Assign):
            targets = self.statement.targets
        elif isinstance(self.statement, ast.AugAssign):
            targets = [self.statement.target]
        return any(isinstance(target, ast.Subscript) for target in targets)

    @cached_property
    def is_test(self) -> bool:
        """The line decides a branch: it is part of the test of an ``if``, ``while`` or ``assert``."""
        if isinstance(self.statement, (ast.If, ast.While, ast.Assert)):
            return _covers(self.statement.test, self.number)
        return any(
            isinstance(n, ast.IfExp) and _covers(n.test, self.number) for n in self._own_nodes
        )

    @cached_property
    def is_in_update(self) -> bool:
        """A block around the line calls ``backward()`` itself: this is one update of the parameters."""
        return any(
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Call)
            and called_name(statement.value) == "backward"
            for block in self._enclosing_blocks()
            for statement in block
        )

    @cached_property
    def loops(self) -> tuple[ast.AST, ...]:
        """The loops that repeat this line within its function, innermost first."""
        inside = [node for node in self._own_nodes if _repeats(node, self.number)]
        inner: ast.AST = self.statement
        around: list[ast.AST] = []
        if isinstance(inner, ast.While) and _covers(inner.test, self.number):
            around.append(inner)
        for outer in self._ancestors():
            if isinstance(outer, LOOPS) and inner in outer.body:
                around.append(outer)
            inner = outer
        return (*inside, *around)

    @cached_property
    def sample_loop(self) -> ast.AST | None:
        """The innermost loop, if it is one inside a step and not the training loop itself."""
        loop = self.loops[0] if self.loops else None
        if loop is None or any(
            isinstance(node, ast.Call) and not STEP_WORDS.isdisjoint(called_name(node).split("_"))
            for node in ast.walk(loop)
        ):
            return None
        return loop

    @cached_property
    def function(self) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function whose body the line is in; None at the level of a module or class."""
        for node in self._ancestors(stop_at_function=False):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return node
            if isinstance(node, (ast.ClassDef, ast.Module)):
                return None
        return None

    def root_call(self) -> ast.Call | None:
        """Where the tensor comes from that a method is called on here: the first call of its chain.

        ``torch.rand(8).to(device)`` comes from ``torch.rand(8)``, also if a name stands in between.
        """
        for call in self.calls:
            root = self._root(call, self.number, depth=4)
            if root is not None:
                return root
        return None

    def _root(self, node: ast.expr, before: int, depth: int) -> ast.Call | None:
        while True:
            if isinstance(node, ast.Call):
                if dotted_name(node.func).startswith("torch."):
                    return node
                node = node.func
            elif isinstance(node, (ast.Attribute, ast.Subscript)):
                node = node.value
            else:
                break
        if not isinstance(node, ast.Name) or not depth:
            return None
        value = self._last_assigned(node.id, before)
        return None if value is None else self._root(value, value.lineno, depth - 1)

    def _last_assigned(self, name: str, before: int) -> ast.expr | None:
        """What the name was given last, above a line of the same function."""
        if self.function is None:
            return None
        values = [
            node.value
            for node in ast.walk(self.function)
            if isinstance(node, ast.Assign)
            and node.lineno < before
            and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
        ]
        return max(values, key=lambda value: value.lineno, default=None)

    @cached_property
    def _own_nodes(self) -> tuple[ast.AST, ...]:
        return tuple(node for node in own_nodes(self.statement) if _covers(node, self.number))

    def _ancestors(self, *, stop_at_function: bool = True) -> Iterator[ast.AST]:
        node: ast.AST | None = self.module.parents.get(self.statement)
        while node is not None:
            if stop_at_function and isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                return
            yield node
            node = self.module.parents.get(node)

    def _enclosing_blocks(self) -> Iterator[list[ast.stmt]]:
        inner: ast.AST = self.statement
        while not isinstance(inner, (*FUNCTIONS, ast.ClassDef, ast.Module)):
            outer = self.module.parents[inner]
            for name in ("body", "orelse", "finalbody"):
                block = getattr(outer, name, None)
                if isinstance(block, list) and inner in block:
                    yield block
            inner = outer


def own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement, without the blocks that belong to it."""
    for name, value in ast.iter_fields(statement):
        if name in _BLOCKS:
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST):
                yield from ast.walk(node)


def called_name(call: ast.Call) -> str:
    """``item`` for ``loss.item()`` and ``tensor`` for ``torch.tensor(...)``; empty if it has no name."""
    return dotted_name(call.func).rpartition(".")[2]


def dotted_name(node: ast.expr) -> str:
    """``torch.cuda.synchronize`` as written; a dot and the last name if something else is before it."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted_name(node.value)}.{node.attr}"
    return ""


def identifier(node: ast.AST) -> str:
    """The name that a node itself adds: of a variable or of an attribute; else empty."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _covers(node: ast.AST, line: int) -> bool:
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    return first is not None and last is not None and first <= line <= last


def _repeats(node: ast.AST, line: int) -> bool:
    """The node is a comprehension that calls something on this line for each of its elements."""
    if not isinstance(node, COMPREHENSIONS):
        return False
    elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    elements += [test for generator in node.generators for test in generator.ifs]
    return any(
        _covers(element, line) and any(isinstance(child, ast.Call) for child in ast.walk(element))
        for element in elements
    )
