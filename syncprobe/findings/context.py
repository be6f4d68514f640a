"""What a rule may ask about a site: the site itself, its neighbours, and the source around it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from syncprobe.findings import operations
from syncprobe.findings.decisions import branches_on, reaches_environment
from syncprobe.findings.scopes.nodes import scope_nodes
from syncprobe.findings.surroundings import frames
from syncprobe.findings.syntax import called_name
from syncprobe.findings.usage import reads_on, unused_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.findings.loops import Loop
    from syncprobe.findings.scopes.branches import Branch
    from syncprobe.findings.scopes.nodes import Scoped
    from syncprobe.findings.source import SourceLines
    from syncprobe.findings.surroundings import Chain, Surroundings
    from syncprobe.findings.syntax import CodeLine
    from syncprobe.profiles.model import Site

LEARN: Final = "learn"
EVAL: Final = "eval"
_FORWARD: Final = "forward"
_MODULE: Final = "<module>"
_SMALLEST_RATE: Final = 1e-9
_UPDATE_REGIONS: Final = frozenset({LEARN, EVAL, "train", "update", "backward", "optimizer"})
_SAMPLING_WORDS: Final = frozenset({"sample", "replay", "memory"})
_SAMPLING_CALLS: Final = frozenset({"sample", "choice", "choices", "permutation"})
_LITERAL_NODES: Final = (
    ast.Constant,
    ast.List,
    ast.Tuple,
    ast.UnaryOp,
    ast.unaryop,
    ast.BinOp,
    ast.operator,
    ast.Load,
)


@dataclass(frozen=True)
class Context:
    """A site and what surrounds it."""

    site: Site
    surroundings: Surroundings = field(repr=False)

    @property
    def steps(self) -> int:
        """Steps recorded; 0 if the program marked none, and then rates are per run."""
        return self.surroundings.steps

    @property
    def source(self) -> SourceLines:
        """Reads the lines behind the sites."""
        return self.surroundings.source

    @property
    def on_line(self) -> Sequence[Site]:
        """All sites of the same line and region, this one included."""
        return self.surroundings.on_line(self.site)

    @cached_property
    def operation(self) -> str:
        """The operation's name without namespace, overload and underscores."""
        return operations.base_name(self.site.operation)

    @cached_property
    def line(self) -> CodeLine | None:
        """The site's line of source, if there is source."""
        return self.source.line(self.site.site)

    @cached_property
    def unused_share(self) -> float:
        """The share of the site's reads whose value nobody uses."""
        return unused_share(self.site, self.source)

    @cached_property
    def line_reads(self) -> Sequence[ast.Call]:
        """The reads that the line spells out, one for each value; none if there is no source."""
        return () if self.line is None else reads_on(self.line)

    @cached_property
    def branches(self) -> Sequence[Branch]:
        """The statements below that cannot go on without the number that is read here."""
        return branches_on(self.line) if self.line is not None and self.line_reads else ()

    def calls(self, names: frozenset[str]) -> bool:
        """The line calls one of these, as far as there is source."""
        return self.line is not None and not names.isdisjoint(self.line.call_names)

    @cached_property
    def is_needed(self) -> bool:
        """Every one of the site's reads hands a decision to the environment, the whole of it at once."""
        site = self.site
        if _SMALLEST_RATE < site.per_step <= site.needed_per_step + _SMALLEST_RATE:
            return True
        return self.sample_loop is None and reaches_environment(site, self.source)

    @cached_property
    def recurs(self) -> bool:
        """It happens in the steps, not only before, between or after them."""
        if self.site.per_step <= _SMALLEST_RATE or operations.is_setup(self.site):
            return False
        if self.steps and self.site.per_step >= 1 - _SMALLEST_RATE:
            return True
        return not (self._is_between_steps or self._happened_once)

    @property
    def keeps_happening(self) -> bool:
        """It happens again and again; where no steps are marked, more than once is all there is to see."""
        return self.recurs and (self.steps > 0 or self.site.count > 1)

    @cached_property
    def repeats(self) -> bool:
        """The line runs several times within a step: in a loop, as far as there is source to show one."""
        rate = self.site.per_step if self.steps else self.site.count
        if rate <= self._written + _SMALLEST_RATE:
            return False
        if self.sample_loop is not None:
            return True
        # Without a loop to be seen, a little more than once is what happens between steps, too.
        return self.steps > 0 and not self.chain.loops and rate >= 2 * self._written

    @cached_property
    def is_update(self) -> bool:
        """The line belongs to learning or evaluation, by its region or by a ``backward()`` next to it."""
        if self.site.region in _UPDATE_REGIONS:
            return True
        lines = (self.source.line(frame) for frame in frames(self.site))
        if any(line is not None and line.is_in_update for line in lines):
            return True
        turn = self.chain.turn
        return turn is not None and self.surroundings.has_updates(turn) and turn.is_after_acting

    @property
    def is_in_forward(self) -> bool:
        """The line belongs to what a network computes."""
        return any(frame.function.rpartition(".")[2] == _FORWARD for frame in frames(self.site))

    @property
    def is_in_batches(self) -> bool:
        """The loop around it goes over batches of data."""
        turn = self.chain.turn
        return turn is not None and turn.is_over_batches

    @cached_property
    def is_sampled(self) -> bool:
        """The line, its function or one that called it draws at random, or is named after doing so."""
        for frame in frames(self.site):
            line = self.source.line(frame)
            if not _SAMPLING_WORDS.isdisjoint(frame.function.lower().replace(".", "_").split("_")):
                return True
            if line is not None and line.of_scope(_draws_samples):
                return True
        return False

    @cached_property
    def is_logged(self) -> bool:
        """The line hands the value to a logger, a progress bar or ``print``."""
        return self.calls(operations.LOG_CALLS)

    @cached_property
    def has_conversion(self) -> bool:
        """The same line makes a tensor from Python data."""
        return any(operations.is_element_conversion(site) for site in self.on_line)

    @cached_property
    def root_call(self) -> str:
        """The torch function that made the tensor used on this line, such as ``linspace``; else empty."""
        call = None if self.line is None else self.line.root_call()
        return "" if call is None else called_name(call)

    @cached_property
    def depends_on_turn(self) -> bool:
        """What makes the tensor used on this line is given something that changes from turn to turn."""
        call = None if self.line is None else self.line.root_call()
        given = () if call is None else (*call.args, *call.keywords)
        used = {n.id for part in given for n in ast.walk(part) if isinstance(n, ast.Name)}
        own = (loop for loop in self.chain.loops if loop.frame == self.site.site)
        return any(not loop.derived.isdisjoint(used) for loop in own)

    @cached_property
    def makes_literal(self) -> bool:
        """The line makes a tensor of numbers that are written there: the same ones each time."""
        call = None if self.line is None else self.line.root_call()
        if call is None or called_name(call) not in operations.TENSOR_CALLS or not call.args:
            return False
        return all(isinstance(node, _LITERAL_NODES) for node in ast.walk(call.args[0]))

    @cached_property
    def chain(self) -> Chain:
        """The loops around the site."""
        return self.surroundings.chain(self.site)

    @cached_property
    def sample_loop(self) -> Loop | None:
        """The innermost loop inside a step that goes over samples, seen from the site outwards."""
        for loop in self.chain.inner:
            if loop.is_over_rows and (loop.has_row_syntax or self._is_inside_another(loop)):
                return loop
        return None

    @cached_property
    def repeated_loop(self) -> Loop | None:
        """The innermost loop inside a step, whatever it goes over."""
        loop = next((loop for loop in self.chain.inner if not loop.is_asked_for), None)
        return loop if loop is not None and self._is_inside_another(loop) else None

    @cached_property
    def turns_per_step(self) -> float:
        """How often the innermost loop goes round in a step; where nothing shows it, in the run."""
        if self.steps or len(self.chain.loops) < 2:
            return self.site.per_step
        inner, outer = self.chain.loops[:2]
        return self.site.count / self.surroundings.turns_between(inner, outer)

    @cached_property
    def has_layer(self) -> bool:
        """The loop over samples around the site also runs a layer of a network."""
        return self.sample_loop is not None and self.surroundings.has_in_loop(
            self.sample_loop, operations.is_layer
        )

    @cached_property
    def has_repeated_read(self) -> bool:
        """The innermost loop around the site also reads a value in each turn."""
        return self.repeated_loop is not None and self.surroundings.has_in_loop(
            self.repeated_loop, operations.is_own_read
        )

    @property
    def neighbouring_reads(self) -> int:
        """How many lines of the same function, region and loop read values, this one included."""
        return self.surroundings.reading_lines(self.site)

    def _is_inside_another(self, loop: Loop) -> bool:
        """The loop is not the outermost one of the program, as far as that can be told."""
        return self.steps > 0 or self.chain.loops[-1] is not loop

    @property
    def _happened_once(self) -> bool:
        """In a program without steps: no loop led to it."""
        if self.steps or self.line is None or self.chain.loops:
            return False
        # A line of the program itself runs once, however much is written on it.
        return self.site.site.function == _MODULE or self.site.count <= self._written

    @property
    def _written(self) -> int:
        """How often the line spells out what happens there."""
        return max(len(self.line_reads), 1) if operations.is_read(self.site) else 1

    @cached_property
    def _is_between_steps(self) -> bool:
        """The innermost loop around the line has another one in it whose turns are the steps."""
        return any(
            self.surroundings.has_steps_inside(loop, oftener_than=self.site.count)
            for loop in self.chain.loops[:1]
        )


def _draws_samples(scope: Scoped) -> bool:
    """A function calls something that draws at random."""
    return any(
        isinstance(node, ast.Call) and called_name(node) in _SAMPLING_CALLS
        for node in scope_nodes(scope)
    )
