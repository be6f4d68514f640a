"""What the text around a line says: its statement, its loops, its calls. Syntax only; nothing is run."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

from syncprobe.findings.scopes.assignments import last_values
from syncprobe.findings.scopes.nodes import FUNCTIONS, Scoped, scope_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Node = TypeVar("Node", bound=ast.AST)
Fact = TypeVar("Fact")

LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_ENVIRONMENT_CALLS: Final = frozenset({"step", "step_async", "send"})
_NO_ENVIRONMENTS: Final = ("opt", "sched", "scaler", "prof", "accelerator", "bar", "queue", "pipe")
"""Parts of the names of things that have a ``step`` or a ``send`` and are no environments."""
_BLOCKS: Final = ("body", "orelse", "finalbody", "handlers", "cases")


@dataclass(frozen=True, eq=False)
class Block:
    """Statements that run one after the other."""

    statements: Sequence[ast.stmt] = field(repr=False)

    @cached_property
    def acts_until(self) -> int:
        """The last line that steps an environment; 0 if none does."""
        calls = (call for statement in self.statements for call in environment_steps(statement))
        return max((call.lineno for call in calls), default=0)

    @cached_property
    def has_backward(self) -> bool:
        """One of its own statements calls ``backward()``."""
        return any(map(_has_backward, self.statements))


@dataclass(frozen=True, eq=False)
class Module:
    """A parsed file, and what was found out about its parts: each is looked at once, not once per line."""

    tree: ast.Module
    parents: Mapping[ast.AST, ast.AST] = field(repr=False)
    statements: Mapping[int, ast.stmt] = field(repr=False)
    """The innermost statement of each line; of several on one line the last that calls something."""
    blocks: Mapping[ast.AST, Block] = field(repr=False)
    """The block that a statement is in."""
    _facts: dict[tuple[Any, ast.AST], Any] = field(default_factory=dict, repr=False)

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
        blocks: dict[ast.AST, Block] = {}
        # Breadth first, so that inner statements overwrite the ones around them.
        for node in ast.walk(tree):
            parents.update((child, node) for child in ast.iter_child_nodes(node))
            for block in _blocks_of(node):
                blocks.update(dict.fromkeys(block.statements, block))
            if isinstance(node, ast.stmt):
                last = node.lineno if node.end_lineno is None else node.end_lineno
                for line in range(node.lineno, last + 1):
                    before = statements.get(line)
                    if before is None or not _is_aside(node, before):
                        statements[line] = node
        return cls(tree, parents, statements, blocks)

    def once(self, find: Callable[[Node], Fact], node: Node) -> Fact:
        """What a function finds out about a node, remembered for all the lines that ask."""
        key = (find, node)
        if key not in self._facts:
            self._facts[key] = find(node)
        found: Fact = self._facts[key]
        return found

    def line(self, number: int) -> CodeLine | None:
        """A line that belongs to a statement; None for blank lines, comments and lines that are not there."""
        statement = self.statements.get(number)
        return None if statement is None else CodeLine(self, number, statement)


def _is_aside(node: ast.stmt, before: ast.stmt) -> bool:
    """A statement stands behind another one on its line (``x; y``), and that one calls something while it does not."""
    end = before.end_lineno or before.lineno, before.end_col_offset or 0
    return end <= (node.lineno, node.col_offset) and _calls(before) and not _calls(node)


def _calls(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Call) for part in ast.walk(node))


@dataclass(frozen=True)
class CodeLine:
    """One line of a parsed file, with the statement it belongs to."""

    module: Module
    number: int
    statement: ast.stmt

    @cached_property
    def calls(self) -> tuple[ast.Call, ...]:
        """The calls written on this line, in the statement's own text (not in the blocks below it)."""
        return tuple(node for node in self.own_nodes if isinstance(node, ast.Call))

    @cached_property
    def call_names(self) -> frozenset[str]:
        """What is called on this line: ``item``, ``tensor``; without what stands before the dot."""
        return frozenset(called_name(call) for call in self.calls)

    @cached_property
    def has_subscript(self) -> bool:
        """Something is indexed on this line."""
        return any(isinstance(node, ast.Subscript) for node in self.own_nodes)

    @cached_property
    def has_formatting(self) -> bool:
        """An f-string or a call of ``format`` on this line puts a value into a text."""
        has_value = any(isinstance(node, ast.FormattedValue) for node in self.own_nodes)
        return has_value or "format" in self.call_names

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
            isinstance(n, ast.IfExp) and _covers(n.test, self.number) for n in self.own_nodes
        )

    @cached_property
    def is_in_update(self) -> bool:
        """A block around the line calls ``backward()`` itself: this is one update of the parameters.

        Where the same block also steps an environment, what comes before that is acting.
        """
        for block in self._enclosing_blocks():
            if block.has_backward:
                return self.number > block.acts_until
            if block.acts_until:
                return False
        return False

    @cached_property
    def loops(self) -> tuple[ast.AST, ...]:
        """The loops that repeat this line within its function, innermost first."""
        inside = [node for node in self.own_nodes if _repeats(node, self.number)]
        inner: ast.AST = self.statement
        around: list[ast.AST] = []
        if isinstance(inner, ast.While) and _covers(inner.test, self.number):
            around.append(inner)
        for outer in self._ancestors():
            if isinstance(outer, LOOPS) and self._is_in(inner, outer.body):
                around.append(outer)
            inner = outer
        return (*inside, *around)

    @cached_property
    def function(self) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function whose body the line is in; None at the level of a module or class."""
        for node in self._ancestors(stop_at_function=False):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return node
            if isinstance(node, (ast.ClassDef, ast.Module)):
                return None
        return None

    @cached_property
    def scope(self) -> tuple[ast.AST, ...]:
        """The nodes of the function that the line is in, or of the module, without functions inside."""
        return self.of_scope(scope_nodes)

    def of_scope(self, find: Callable[[Scoped], Fact]) -> Fact:
        """What a function finds out about the function or the module that the line is in."""
        return self.module.once(find, self.function or self.module.tree)

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
                if dotted_name(node.func).startswith("torch.") or called_name(node) == "new_tensor":
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
        values = self.module.once(last_values, self.function).get(name)
        return None if values is None else values.before(before)

    @cached_property
    def own_nodes(self) -> tuple[ast.AST, ...]:
        """The nodes that are written on this line, in the statement's own text."""
        return tuple(node for node in own_nodes(self.statement) if _covers(node, self.number))

    def _ancestors(self, *, stop_at_function: bool = True) -> Iterator[ast.AST]:
        node: ast.AST | None = self.module.parents.get(self.statement)
        while node is not None:
            if stop_at_function and isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                return
            yield node
            node = self.module.parents.get(node)

    def _enclosing_blocks(self) -> Iterator[Block]:
        inner: ast.AST = self.statement
        while not isinstance(inner, (*FUNCTIONS, ast.ClassDef, ast.Module)):
            if inner in self.module.blocks:
                yield self.module.blocks[inner]
            inner = self.module.parents[inner]

    def _is_in(self, inner: ast.AST, statements: Sequence[ast.stmt]) -> bool:
        block = self.module.blocks.get(inner)
        return block is not None and block.statements is statements


def environment_steps(node: ast.AST) -> Iterator[ast.Call]:
    """The calls inside a node that hand something to an environment."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and is_environment_step(call):
            yield call


def is_environment_step(call: ast.Call) -> bool:
    """It hands something to an environment: ``env.step(action)``, but no optimizer's step."""
    if not isinstance(call.func, ast.Attribute) or not (call.args or call.keywords):
        return False
    owner = dotted_name(call.func.value).lower()
    is_other = any(word in owner for word in _NO_ENVIRONMENTS)
    return call.func.attr in _ENVIRONMENT_CALLS and not is_other


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


def _blocks_of(node: ast.AST) -> Iterator[Block]:
    for name in ("body", "orelse", "finalbody"):
        statements = getattr(node, name, None)
        if isinstance(statements, list):
            yield Block(statements)


def _has_backward(statement: ast.stmt) -> bool:
    """A statement of a block calls ``backward()``, as it is or inside ``with``."""
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return any(map(_has_backward, statement.body))
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and called_name(statement.value) == "backward"
    )


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
