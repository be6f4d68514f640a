"""What a loop goes over: samples, batches, or the steps of the program. Syntax only; nothing is run."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from syncprobe.findings.scopes.nodes import names_in
from syncprobe.findings.scopes.parameters import is_of_parameters, lists_of_parameters
from syncprobe.findings.syntax import (
    COMPREHENSIONS,
    LOOPS,
    called_name,
    dotted_name,
    environment_steps,
    identifier,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.events import CallSite
    from syncprobe.findings.syntax import CodeLine

STEP_WORDS: Final = frozenset({"step", "backward", "learn", "train"})
"""Words in the names of calls that make a loop the training loop itself: one turn is one step or update."""
_TURN_WORDS: Final = frozenset(
    {
        *("batch", "episode", "epoch", "fold", "iter", "iteration", "it", "minibatch", "rollout"),
        *("round", "run", "seed", "step", "sweep", "trial", "update"),
    }
)
"""Words in the names of loop variables that count steps, not samples."""
_BATCH_WORDS: Final = frozenset(
    {
        *("batch", "batches", "chunk", "chunks", "dataloader", "dl", "loader", "loaders"),
        *("minibatch", "minibatches", "split"),
    }
)
"""Words in the names of what a loop over batches goes over."""
_ONE_BATCH: Final = frozenset({"batch", "chunk", "minibatch"})
"""Names of what is one batch: a loop over it, or over what comes of it, goes over samples."""
_LOADER: Final = "DataLoader"
_COMPREHENSION_FRAMES: Final = ("comp>", "<genexpr>")
_HAS_INLINED_COMPREHENSIONS: Final = sys.version_info >= (3, 12)


@dataclass(frozen=True)
class Loop:
    """A loop of the source, seen from a line in it."""

    node: ast.AST
    frame: CallSite
    """The line that was running in it."""
    line: CodeLine

    @property
    def number(self) -> int:
        """The line where it begins."""
        number: int = getattr(self.node, "lineno", self.frame.line)
        return number

    @property
    def is_comprehension(self) -> bool:
        """It is an expression, not a statement."""
        return isinstance(self.node, COMPREHENSIONS)

    def holds(self, path: str, number: int) -> bool:
        """A line of a file belongs to it."""
        last = getattr(self.node, "end_lineno", None) or self.number
        return path == self.frame.path and self.number <= number <= last

    @property
    def makes_steps(self) -> bool:
        """Its body, without the loops inside it, steps an environment or an optimizer."""
        return self.line.module.once(_makes_steps, self.node)

    @cached_property
    def is_after_acting(self) -> bool:
        """The line comes after the steps of an environment in the loop, or there are none."""
        return self.line.module.once(_acts_until, self.node) < self.frame.line

    @cached_property
    def is_over_batches(self) -> bool:
        """One turn is one batch: of a loader, of a tensor that was split, of a range with a stride."""
        loaders = self.line.module.once(_loaders, self.line.module.tree)
        for iterable in self._iterables:
            for node in ast.walk(iterable):
                name = identifier(node)
                if name in loaders:
                    return True
                if name not in _ONE_BATCH and not _BATCH_WORDS.isdisjoint(_words(name)):
                    return True
            if isinstance(iterable, ast.Call) and called_name(iterable) == "range":
                return len(iterable.args) == 3
        return False

    @cached_property
    def is_over_steps(self) -> bool:
        """One turn is one step of the program, by what it counts or by what it calls."""
        if any(not _TURN_WORDS.isdisjoint(_words(name)) for name in self.targets):
            return True
        owners = self.line.module.once(_owners_of_steps, self.node)
        return not owners <= self.targets

    @property
    def is_asked_for(self) -> bool:
        """An endless generator: its turns are those of whoever asks for the next value."""
        return self.line.module.once(_yields_forever, self.node)

    @cached_property
    def is_over_entries(self) -> bool:
        """It goes over the entries of a dictionary, such as the losses by name."""
        return any(
            isinstance(iterable, ast.Call) and called_name(iterable) in {"items", "values"}
            for iterable in self._iterables
        )

    @cached_property
    def is_over_parameters(self) -> bool:
        """It goes over the parameters of a network, or over a list of them."""
        lists = self.line.of_scope(lists_of_parameters)
        return not self.is_comprehension and any(
            is_of_parameters(iterable, lists) for iterable in self._iterables
        )

    @property
    def targets(self) -> frozenset[str]:
        """The names that change from turn to turn; of a ``while``, those that its test counts by."""
        return self.line.module.once(_targets, self.node)

    @property
    def derived(self) -> frozenset[str]:
        """The targets, and the names that the loop's body makes of them."""
        return self.line.module.once(_derived, self.node)

    @cached_property
    def is_over_rows(self) -> bool:
        """What the line does depends on the turn: it works on one sample after the other."""
        used = {name for node in self._work for name in names_in(node)}
        return not self.derived.isdisjoint(used)

    @cached_property
    def hands_rows_on(self) -> bool:
        """A call on the line is given what the turn is about, all of it or its row of a tensor.

        A turn that needs the result of the one before, an element of a later dimension (``x[:, t]``) and
        a loop over networks are no rows.
        """
        carried = self._carried
        for call in (n for node in self._work for n in ast.walk(node) if isinstance(n, ast.Call)):
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            names = {name for value in given for name in names_in(value)}
            is_row = not names.isdisjoint(self.derived) and names.isdisjoint(carried)
            if is_row and not any(map(self._is_column, given)):
                return True
        return False

    @cached_property
    def has_row_syntax(self) -> bool:
        """It goes over the elements of something, not over numbers that somebody wrote down."""
        if any(not _is_written_range(iterable) for iterable in self._iterables):
            return True
        return any(
            isinstance(node, ast.Subscript) and not self.targets.isdisjoint(names_in(node.slice))
            for work in self._work
            for node in ast.walk(work)
        )

    @property
    def _work(self) -> tuple[ast.AST, ...]:
        """What one turn does on the line."""
        if isinstance(self.node, ast.DictComp):
            return (self.node.key, self.node.value)
        if isinstance(self.node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return (self.node.elt,)
        return (self.line.statement,)

    @property
    def _iterables(self) -> tuple[ast.expr, ...]:
        if isinstance(self.node, (ast.For, ast.AsyncFor)):
            return (self.node.iter,)
        return tuple(generator.iter for generator in getattr(self.node, "generators", ()))

    @cached_property
    def _carried(self) -> frozenset[str]:
        """The names that the line both reads and assigns: ``h`` in ``h = cell(x[t], h)``."""
        statement = self.line.statement
        if self.is_comprehension or not isinstance(statement, ast.Assign):
            return frozenset()
        assigned = {name for target in statement.targets for name in names_in(target)}
        # `state = net(state)` in a loop over states carries nothing from turn to turn.
        return frozenset(assigned & names_in(statement.value)) - self.targets

    def _is_column(self, node: ast.expr) -> bool:
        """The turn picks along another dimension than the first."""
        return any(
            isinstance(part, ast.Subscript)
            and isinstance(part.slice, ast.Tuple)
            and self.targets.isdisjoint(names_in(part.slice.elts[0]))
            and not self.targets.isdisjoint(names_in(part.slice))
            for part in ast.walk(node)
        )


def loops_at(frame: CallSite, line: CodeLine) -> Iterator[Loop]:
    """The loops that repeat what a frame was doing at a line, innermost first."""
    is_inside = frame.function.endswith(_COMPREHENSION_FRAMES)
    for node in line.loops:
        is_comprehension = isinstance(node, COMPREHENSIONS)
        if is_comprehension and not is_inside and not _HAS_INLINED_COMPREHENSIONS:
            # A comprehension runs in a frame of its own: what this one does on the line is done once.
            continue
        if is_inside and not is_comprehension:
            # The frame of the function around it comes next, and has this loop too.
            return
        yield Loop(node, frame, line)


def _loaders(tree: ast.Module) -> frozenset[str]:
    """The names that are given a ``DataLoader``, whatever they are called."""
    return frozenset(
        identifier(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and called_name(node.value).endswith(_LOADER)
        for target in node.targets
    ) - {""}


def _makes_steps(loop: ast.AST) -> bool:
    nested = [node for node in ast.walk(loop) if isinstance(node, LOOPS) and node is not loop]
    inside = {line for node in nested for line in range(node.lineno, (node.end_lineno or 0) + 1)}
    return any(
        isinstance(node, ast.Call)
        and called_name(node) == "step"
        and "sched" not in dotted_name(node.func).lower()
        and node.lineno not in inside
        for node in ast.walk(loop)
    )


def _yields_forever(loop: ast.AST) -> bool:
    is_endless = isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant)
    return is_endless and any(isinstance(node, ast.Yield) for node in ast.walk(loop))


def _acts_until(loop: ast.AST) -> int:
    """The last line that steps an environment; none is above all lines."""
    return max((call.lineno for call in environment_steps(loop)), default=0)


def _owners_of_steps(loop: ast.AST) -> frozenset[str]:
    """The variables on which a loop calls what steps or learns; empty text for what is no variable's."""
    return frozenset(
        _owner(node.func)
        for node in ast.walk(loop)
        if isinstance(node, ast.Call) and not STEP_WORDS.isdisjoint(_words(called_name(node)))
    )


def _owner(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _targets(loop: ast.AST) -> frozenset[str]:
    if isinstance(loop, ast.While):
        counted = (n.target for n in ast.walk(loop) if isinstance(n, ast.AugAssign))
        return frozenset(names_in(loop.test) & {name for n in counted for name in names_in(n)})
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        return frozenset(names_in(loop.target))
    generators = getattr(loop, "generators", ())
    return frozenset(name for generator in generators for name in names_in(generator.target))


def _derived(loop: ast.AST) -> frozenset[str]:
    names = set(_targets(loop))
    assignments = [
        (names_in(node.value), {name for target in node.targets for name in names_in(target)})
        for node in ast.walk(loop)
        if isinstance(node, ast.Assign)
    ]
    for _ in range(2):
        for used, assigned in assignments:
            if not names.isdisjoint(used):
                names |= assigned
    return frozenset(names)


def _is_written_range(iterable: ast.expr) -> bool:
    """``range(20)`` or ``range(count)``, but not ``range(len(states))``."""
    if not isinstance(iterable, ast.Call) or called_name(iterable) != "range":
        return False
    return not any(
        isinstance(node, (ast.Call, ast.Attribute))
        for argument in iterable.args
        for node in ast.walk(argument)
    )


def _words(name: str) -> list[str]:
    return name.lower().split("_")
