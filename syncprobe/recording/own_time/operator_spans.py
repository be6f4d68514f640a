"""When torch was inside operators, as its own profiler sees it from C++."""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Final

import torch.autograd
from torch._C._profiler import _ExperimentalConfig

if TYPE_CHECKING:
    from collections.abc import Sequence

Span = tuple[int, int]
"""Beginning and end in nanoseconds of ``time.perf_counter``."""

_torch: Any = torch.autograd
"""What it offers beyond its public names carries no types."""
_ACTIVITIES: Final = {_torch.ProfilerActivity.CPU}
_NO_TASK: Final = -1
_LOG_LEVEL: Final = "KINETO_LOG_LEVEL"
_SILENT: Final = "99"


class OperatorSpans:
    """Watches the operators of one thread between ``start`` and ``stop``.

    The profiler's callbacks cost about a microsecond per operator, most of it inside the span that they
    report, and each operator costs more when the spans are collected: watch single steps, not runs.
    """

    def __init__(self) -> None:
        self._is_unstopped = False
        """It was asked to stop in a backward pass."""

    def start(self) -> bool:
        """Begin to watch; says no in a backward pass, and if the program is using the profiler itself."""
        self.settle()
        if in_backward() or _torch._profiler_enabled():
            return False
        level = os.environ.get(_LOG_LEVEL)
        # The profiler announces each start and stop on the program's error output.
        os.environ[_LOG_LEVEL] = _SILENT
        try:
            _torch._prepare_profiler(_config(), _ACTIVITIES)
            _torch._enable_profiler(_config(), _ACTIVITIES)
        finally:
            if level is None:
                del os.environ[_LOG_LEVEL]
            else:
                os.environ[_LOG_LEVEL] = level
        return True

    def stop(self) -> tuple[Span, ...] | None:
        """The outermost operators since the start, in order; None if the program took the profiler over.

        So it is in a backward pass: the profiler is stopped after that.
        """
        if in_backward():
            self._is_unstopped = True
            return None
        # Only the profiler that programs use sets the flag, and what it is collecting is theirs.
        if _torch.profiler._is_profiler_enabled or not _torch._profiler_enabled():
            return None
        ahead_ns = time.time_ns() - time.perf_counter_ns()
        return _outermost(_torch._disable_profiler().events(), ahead_ns)

    def look_away(self) -> None:
        """What follows is of no interest: only operators that are under way are seen to their end."""
        _torch._enable_record_function(False)

    def look_again(self) -> None:
        """What follows is the program."""
        _torch._enable_record_function(True)

    def settle(self) -> None:
        """Stop what could not be stopped when it was asked to."""
        if self._is_unstopped and not in_backward():
            self._is_unstopped = False
            self.stop()


def in_backward() -> bool:
    """Autograd is at work, and gives the thread back the state it had before: a profiler among it."""
    return bool(torch._C._current_graph_task_id() != _NO_TASK)


def place_of(spans: Sequence[Span], at_ns: int) -> int:
    """How many spans began before that."""
    return bisect_left(spans, (at_ns, 0))


def _config() -> Any:
    plain = (False,) * 5  # no shapes, memory, stacks, flops or modules
    return _torch.ProfilerConfig(_torch.ProfilerState.KINETO, *plain, _ExperimentalConfig(), "")


def _outermost(events: list[Any], ahead_ns: int) -> tuple[Span, ...]:
    spans: list[Span] = []
    thread: int | None = None
    end_ns = 0
    for event in events:
        start_ns = event.start_ns()
        if start_ns < end_ns or event.is_user_annotation() or _is_python(event.name()):
            continue
        if thread is None:
            thread = event.start_thread_id()
        if event.start_thread_id() == thread:
            end_ns = event.end_ns()
            spans.append((start_ns - ahead_ns, end_ns - ahead_ns))
    return tuple(spans)


def _is_python(name: str) -> bool:
    """A custom ``autograd.Function`` is the program's own code; torch's own nodes end in a number."""
    return "::" not in name or name.endswith("Backward")
