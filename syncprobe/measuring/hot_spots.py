"""Which functions and lines the host spends its time in, by pyinstrument's samples of a pass of their own.

A sample tells where the interpreter is. If that is inside the simulated device, an operator was running, which
a GPU would do; everything else is own time, of the innermost line of user code on the stack.
"""

from __future__ import annotations

import functools
import os
import sys
import tokenize
import types
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from syncprobe.errors import SyncprobeError
from syncprobe.events import CallSite
from syncprobe.profiles.host import HotSpot
from syncprobe.recording.callsite import OWN_CODE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyinstrument import Profiler

    Stacks = Iterable[tuple[Sequence[str], float]]
    PathOf = Callable[[str], str | None]

INTERVAL_SECONDS: Final = 0.001
SPOTS: Final = 15
"""How many functions, and how many lines, are kept."""
_NO_FILE: Final = "<"
_SAMPLER: Final = f"{os.sep}pyinstrument{os.sep}"


class SamplerMissingError(SyncprobeError):
    """The optional dependency is not installed."""

    def __init__(self) -> None:
        super().__init__("Hot spots need pyinstrument; install it with 'pip install pyinstrument'.")


class SampleWatch:
    """Samples from the first step that is recorded to the last, or all the time if there are none."""

    def __init__(self, warmup: int, max_steps: int | None) -> None:
        self._profiler = _profiler()
        self._warmup = warmup
        self._last_step = sys.maxsize if max_steps is None else warmup + max_steps
        self._steps_started = 0
        self._others: list[tuple[Sequence[str], float]] = []
        self._switch(is_on=not warmup)

    def begin_step(self) -> None:
        """Start after warm-up; the first step of all ends the set-up."""
        if not self._steps_started:
            self._restart()
        self._switch(is_on=self._warmup <= self._steps_started < self._last_step)
        self._steps_started += 1

    def end_step(self) -> None:
        """Stop after the last step."""
        if self._steps_started >= self._last_step:
            self._switch(is_on=False)

    def drop_step(self) -> None:
        """What is not in a step is not sampled."""
        self._steps_started -= 1
        self._switch(is_on=False)

    def forget_steps(self) -> None:
        """Begin anew."""
        self._steps_started = 0
        self._restart()

    @property
    def has_enough(self) -> bool:
        """All steps to sample are over."""
        return self._steps_started >= self._last_step and not self._profiler.is_running

    def enter_region(self, name: str) -> None:
        """Regions do not matter to samples."""

    def leave_region(self) -> None:
        """Regions do not matter to samples."""

    def add_stacks(self, stacks: Stacks) -> None:
        """Merge what was seen in another process."""
        self._others += stacks

    def stacks(self) -> list[tuple[Sequence[str], float]]:
        """Stacks, outermost frame first, and how long they were seen; the program is over."""
        self._switch(is_on=False)
        session = self._profiler.last_session
        return [*(() if session is None else session.frame_records), *self._others]

    def _restart(self) -> None:
        self._switch(is_on=False)
        self._profiler = _profiler()

    def _switch(self, *, is_on: bool) -> None:
        if is_on and not self._profiler.is_running:
            self._profiler.start()
        elif self._profiler.is_running and not is_on:
            self._profiler.stop()


def hot_spots(stacks: Stacks, path_of: PathOf) -> tuple[HotSpot, ...]:
    """Functions and lines by own time, dearest first.

    Args:
        stacks: As :meth:`SampleWatch.stacks` gives them.
        path_of: The path to show for a user's file, None for a library's, empty for our own.
    """
    functions: Counter[CallSite] = Counter()
    lines: Counter[CallSite] = Counter()
    for stack, seconds in stacks:
        calls = user_calls(stack, path_of)
        if calls:
            function, line = calls[-1]
            functions[function] += seconds  # type: ignore[assignment]  # counts may be fractions
            lines[line] += seconds  # type: ignore[assignment]  # likewise
    whole = sum(functions.values())
    return tuple(
        HotSpot(site=site, is_function=is_function, share=min(seconds / whole, 1.0))
        for is_function, spots in ((True, functions), (False, lines))
        for site, seconds in spots.most_common(SPOTS)
    )


def user_calls(stack: Sequence[str], path_of: PathOf) -> list[tuple[CallSite, CallSite]]:
    """The user's functions on a stack, outermost first: where each begins, and the line it was at.

    Empty if the device was at work, the sampler, or nobody's code.
    """
    calls = []
    for frame in reversed(stack):
        identifier, *attributes = frame.split("\x01")
        name, file, first_line = identifier.split("\x00")
        if _SAMPLER in file:
            return []
        if file.startswith(_NO_FILE):
            continue
        path = path_of(file)
        if path == OWN_CODE:
            break  # below a user's function it is the device; above all of them, what started the program
        if path is not None:
            marked = {attribute[:1]: attribute[1:] for attribute in attributes}
            # The sampler knows the class of the object, which need not be the one that the function is in.
            known = f"{marked['c']}.{name}" if "c" in marked else name
            qualified = _qualified_names(file).get((name, int(first_line)), known)
            begin = CallSite(path=path, line=int(first_line), function=qualified)
            calls.append((begin, replace(begin, line=int(marked.get("l", first_line)))))
    return calls[::-1]


@functools.cache
def _qualified_names(file: str) -> dict[tuple[str, int], str]:
    """What call sites call the functions of a file, by their names and first lines; none if it is no source."""
    try:
        with tokenize.open(file) as stream:
            pending = [compile(stream.read(), file, "exec", dont_inherit=True)]
    except (OSError, SyntaxError, UnicodeDecodeError, ValueError):
        return {}
    names = {}
    while pending:
        code = pending.pop()
        names[code.co_name, code.co_firstlineno] = code.co_qualname
        pending += [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return names


def _profiler() -> Profiler:
    try:
        from pyinstrument import Profiler
    except ImportError:
        raise SamplerMissingError from None
    return Profiler(interval=INTERVAL_SECONDS, async_mode="disabled")


def can_sample() -> bool:
    """The optional dependency is there."""
    try:
        _profiler()
    except SamplerMissingError:
        return False
    return True
