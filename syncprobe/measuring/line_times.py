"""Time by line of the functions that matter, measured by line_profiler in a pass of its own.

Tracing every line slows a program down, so this pass gives the lines of hot functions their share of the
time and is never the source of a profile's step time.
"""

from __future__ import annotations

import gc
import sys
import tokenize
import types
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from syncprobe.errors import SyncprobeError
from syncprobe.events import CallSite, LineTime
from syncprobe.recording.automatic import steps_told
from syncprobe.recording.callsite import relative_path

if TYPE_CHECKING:
    from pathlib import Path

    from line_profiler import LineProfiler

Functions = Collection[tuple[str, str]]
"""Path as a call site shows it, and qualified name."""


class LineProfilerMissingError(SyncprobeError):
    """The optional dependency is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "--lines needs line_profiler; install it with 'pip install line_profiler'."
        )


def make_profiler() -> LineProfiler:
    """A line profiler that watches nothing yet."""
    try:
        from line_profiler import LineProfiler
    except ImportError:
        raise LineProfilerMissingError from None
    return LineProfiler()


class LineWatch:
    """Times lines during the steps that are recorded, or all the time if no warm-up has to pass."""

    def __init__(self, warmup: int, max_steps: int | None) -> None:
        self.profiler = make_profiler()
        self.steps = 0
        self._warmup = warmup
        self._last_step = sys.maxsize if max_steps is None else warmup + max_steps
        self._steps_started = 0
        self._is_on = False
        if not warmup:
            self._switch(is_on=True)

    def begin_step(self) -> None:
        """Start timing after warm-up, stop after the last step."""
        is_recorded = self._warmup <= self._steps_started < self._last_step
        self._switch(is_on=is_recorded)
        self.steps += is_recorded
        self._steps_started += 1

    def end_step(self) -> None:
        """Stop after the last step."""
        if self._steps_started >= self._last_step:
            self._switch(is_on=False)

    def drop_step(self) -> None:
        """The open step is none, though its lines are timed."""
        self._steps_started -= 1
        self.steps -= self._is_on
        self._switch(is_on=False)

    def forget_steps(self) -> None:
        """All steps so far were none: time lines anew."""
        self._switch(is_on=False)
        self._steps_started = self.steps = 0

    @property
    def has_enough(self) -> bool:
        """All steps to time are timed."""
        return self._steps_started >= self._last_step and not self._is_on

    def enter_region(self, name: str) -> None:
        """Regions do not matter to lines."""

    def leave_region(self) -> None:
        """Regions do not matter to lines."""

    def stop(self) -> None:
        """The program is over."""
        self._switch(is_on=False)

    def _switch(self, *, is_on: bool) -> None:
        if is_on and not self._is_on:
            self.profiler.enable_by_count()
        elif self._is_on and not is_on:
            self.profiler.disable_by_count()
        self._is_on = is_on


def timed_call(
    call: Callable[[], object],
    watch: LineWatch,
    functions: Functions,
    root: Path,
    *,
    step_on: str | None = None,
) -> tuple[LineTime, ...]:
    """Call something while the lines of the given functions are timed.

    Args:
        call: What to call.
        watch: Times the lines.
        functions: Whose lines; only those that exist, or were prepared by :func:`watched_code`, can be timed.
        root: The folder that their paths are relative to.
        step_on: What a step is.
    """
    for function in _live_functions(functions, root):
        watch.profiler.add_function(function)
    with steps_told(watch, step_on, ends_program=step_on is not None):
        try:
            call()
        finally:
            watch.stop()
    return _line_times(watch, functions, root)


def watched_code(
    script: Path, watch: LineWatch, functions: Functions, root: Path
) -> types.CodeType:
    """The code of a script whose functions, and own lines, will be timed when it runs."""
    path = relative_path(str(script), root)
    names = {name for known, name in functions if known == path}
    with tokenize.open(script) as file:
        return _watched(compile(file.read(), str(script), "exec"), watch, names)


def _watched(code: types.CodeType, watch: LineWatch, names: Collection[str]) -> types.CodeType:
    """The same code; line_profiler changes what it is to recognise, so that no two functions are alike."""
    code = code.replace(
        co_consts=tuple(
            _watched(constant, watch, names) if isinstance(constant, types.CodeType) else constant
            for constant in code.co_consts
        )
    )
    if code.co_qualname not in names:
        return code
    closure = tuple(types.CellType() for _ in code.co_freevars)
    function = types.FunctionType(code, {}, code.co_name, None, closure)
    watch.profiler.add_function(function)
    return function.__code__


def _live_functions(wanted: Functions, root: Path) -> list[types.FunctionType]:
    """Function objects by path and qualified name; a call site knows no more of them."""
    names = {name for _, name in wanted}
    return [
        thing
        for thing in gc.get_objects()
        # isinstance would ask lazy objects of other libraries what they are, and wake them up.
        if type(thing) is types.FunctionType
        and thing.__code__.co_qualname in names
        and (relative_path(thing.__code__.co_filename, root), thing.__code__.co_qualname) in wanted
    ]


def _line_times(watch: LineWatch, functions: Functions, root: Path) -> tuple[LineTime, ...]:
    statistics = watch.profiler.get_stats()
    steps = max(watch.steps, 1)
    times = []
    for (file, _, name), lines in statistics.timings.items():
        path = relative_path(file, root)
        qualified = next(
            (full for known, full in functions if known == path and _is(full, name)), None
        )
        if qualified is None:
            continue
        times += [
            LineTime(
                site=CallSite(path=path, line=line, function=qualified),
                hits_per_step=hits / steps,
                elapsed_us_per_step=ticks * statistics.unit * 1e6 / steps,
            )
            for line, hits, ticks in lines
        ]
    return tuple(times)


def _is(qualified: str, reported: str) -> bool:
    """line_profiler reports plain or qualified names, depending on its version."""
    return reported in {qualified, qualified.rpartition(".")[2]}
