"""What a rule may ask about a site: the site itself, its neighbours, and the source around it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from syncprobe.findings import operations
from syncprobe.findings.syntax import called_name
from syncprobe.findings.usage import reads_on, unused_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.analysis.model import Site
    from syncprobe.events import CallSite
    from syncprobe.findings.source import SourceLines
    from syncprobe.findings.syntax import CodeLine

LEARN: Final = "learn"
EVAL: Final = "eval"
_SMALLEST_RATE: Final = 1e-9
_DECISION_WORDS: Final = frozenset(
    {"act", "action", "actions", "choose", "decide", "predict", "select"}
)
"""Words in the names of functions that choose actions."""
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
    on_line: Sequence[Site]
    """All sites of the same line and region, this one included."""
    in_function: Sequence[Site]
    """All sites of the same function and region, this one included."""
    in_region: Sequence[Site]
    """All sites of the same region, this one included."""
    steps: int
    """Steps recorded; 0 if the program marked none, and then rates are per run."""
    source: SourceLines = field(repr=False)

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

    def calls(self, names: frozenset[str]) -> bool:
        """The line calls one of these, as far as there is source."""
        return self.line is not None and not names.isdisjoint(self.line.call_names)

    @property
    def is_needed(self) -> bool:
        """Every one of the site's reads hands a decision to the environment."""
        site = self.site
        return _SMALLEST_RATE < site.per_step <= site.needed_per_step + _SMALLEST_RATE

    @property
    def recurs(self) -> bool:
        """It happens in the steps, not only before or between them."""
        return self.site.per_step > _SMALLEST_RATE and not operations.is_setup(self.site)

    @property
    def keeps_happening(self) -> bool:
        """It happens again and again; where no steps are marked, more than once is all there is to see."""
        return self.recurs and (self.steps > 0 or self.site.count > 1)

    @cached_property
    def repeats(self) -> bool:
        """The line runs several times within a step.

        Where steps are marked the rate says so. Where none are, the source must show a loop inside
        the training loop.
        """
        is_read = operations.is_read(self.site)
        written = max(len(self.line_reads), 1) if is_read else 1
        if self.steps:
            return self.site.per_step > written + _SMALLEST_RATE
        return self.site.count > written and self.sample_loop is not None

    @cached_property
    def is_update(self) -> bool:
        """The line belongs to learning or evaluation, by its region or by a ``backward()`` next to it."""
        if self.site.region in {LEARN, EVAL}:
            return True
        return self.line is not None and self.line.is_in_update

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
    def makes_literal(self) -> bool:
        """The line makes a tensor of numbers that are written there: the same ones each time."""
        call = None if self.line is None else self.line.root_call()
        if call is None or called_name(call) not in operations.TENSOR_CALLS or not call.args:
            return False
        return all(isinstance(node, _LITERAL_NODES) for node in ast.walk(call.args[0]))

    @cached_property
    def sample_loop(self) -> CallSite | None:
        """The line of the innermost loop inside a step that repeats the site, seen from the site outwards.

        Loops inside a network's ``forward`` go over its layers, not over samples, and do not count;
        but the ``forward`` of a wrapper may ask an agent to act, once per sample.
        """
        is_deciding = False
        for frame in _frames(self.site):
            name = _function_name(frame)
            is_deciding = is_deciding or not _DECISION_WORDS.isdisjoint(name.split("_"))
            if name == "forward" and not is_deciding:
                continue
            if frame.function.endswith(("comp>", "<genexpr>")):
                return frame
            line = self.source.line(frame)
            if line is not None and line.sample_loop is not None:
                return frame
        return None

    @cached_property
    def has_matrix_product(self) -> bool:
        """The loop around the site also runs a layer of a network."""
        return any(
            operations.base_name(site.operation) in operations.MATRIX_PRODUCTS
            and self.sample_loop in _frames(site)
            for site in self.in_region
        )


def _frames(site: Site) -> tuple[CallSite, ...]:
    """The site's line and the lines that led to it most often, innermost first."""
    return (site.site, *(site.callers[0].stack if site.callers else ()))


def _function_name(frame: CallSite) -> str:
    """The last name in a frame's function that a person gave: ``forward`` for a comprehension in it."""
    parts = [part for part in frame.function.split(".") if not part.startswith("<")]
    return parts[-1] if parts else ""
