"""When torch was inside operators, as its own profiler sees it from C++."""

from __future__ import annotations

import os
import sys
import time
from bisect import bisect_left
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import torch.autograd
from torch._C._profiler import RecordScope, _ExperimentalConfig
from torch.autograd import forward_ad

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

Span = tuple[int, int]
"""Beginning and end in nanoseconds of ``time.perf_counter``."""
Place = tuple[int, int]
"""A frame of the program and the instruction that it is at."""

_torch: Any = torch.autograd
"""What it offers beyond its public names carries no types."""
_ACTIVITIES: Final = {_torch.ProfilerActivity.CPU}
_SCOPES: Final = {RecordScope.FUNCTION, RecordScope.BACKWARD_FUNCTION}
"""Operators, and not what programs and optimizers annotate: nobody asks for it, and it stays open for long."""
_LIBRARIES: Final = (str(Path(torch.__file__).parent), str(Path(__file__).parents[2]))
_NO_TASK: Final = -1
_NO_TANGENTS: Final = -1
_DISPATCH: Final = ["PythonSubclass"]
"""What torch calls the way into the dispatch function of a tensor: here that of the device's."""
_LOG_LEVEL: Final = "KINETO_LOG_LEVEL"
_SILENT: Final = "99"


class OperatorSpans:
    """Watches the operators of one thread between ``start`` and ``stop``.

    The profiler's callbacks cost about a microsecond per operator, most of it inside the span that they
    report, and each operator costs more when the spans are collected: watch single steps, not runs.

    An operator that is under way at a stop must be over before the next start: the profiler would write
    its end to memory that was freed at the stop. So there is one of these per recording, whose operators are
    over when it is.
    """

    def __init__(self) -> None:
        self._stopped_at: Place | None = None
        """Where the program called what was under way at the last stop."""
        self._is_unstopped = False
        """It was asked to stop in a backward pass."""

    def start(self) -> bool:
        """Begin to watch; says no in a backward pass, and if the program is using the profiler itself.

        Likewise where the program may still be in what was under way at the last stop.
        """
        self.settle()
        if in_backward() or _torch._profiler_enabled():
            return False
        if any(place == self._stopped_at for place in _places()):
            return False
        self._stopped_at = None
        level = os.environ.get(_LOG_LEVEL)
        # The profiler announces each start and stop on the program's error output.
        os.environ[_LOG_LEVEL] = _SILENT
        try:
            _torch._prepare_profiler(_config(), _ACTIVITIES)
            _torch._enable_profiler(_config(), _ACTIVITIES, _SCOPES)
        finally:
            if level is None:
                del os.environ[_LOG_LEVEL]
            else:
                os.environ[_LOG_LEVEL] = level
        return True

    def stop(self, *, in_operator: bool = False) -> tuple[Span, ...] | None:
        """The outermost operators since the start, in order; None if the program took the profiler over.

        So it is in a backward pass: the profiler is stopped after that.

        Args:
            in_operator: An operator is under way.
        """
        if in_backward():
            self._is_unstopped = True
            return None
        # Only the profiler that programs use sets the flag, and what it is collecting is theirs.
        if _torch.profiler._is_profiler_enabled or not _torch._profiler_enabled():
            return None
        ahead_ns = time.time_ns() - time.perf_counter_ns()
        events = _torch._disable_profiler().events()
        if _is_in_function(events):
            # It may have been called from anywhere.
            *_, self._stopped_at = _places()
        elif in_operator and not _is_alone(events):
            self._stopped_at = next(_places(), None)
        return _outermost(events, ahead_ns)

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


def _places() -> Iterator[Place]:
    """Where the program is, innermost first: whatever is under way was called there."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_LIBRARIES):
            yield id(frame), frame.f_lasti
        frame = frame.f_back


def _is_alone(events: list[Any]) -> bool:
    """True if what is under way is a single operator, which ends as soon as the device is done with it.

    One that is made of others may go on for long, and so may one that has tangents to work out.
    """
    end_ns = max((event.end_ns() for event in events), default=0)
    under_way = [event.name() for event in events if event.end_ns() == end_ns]
    operators = sum("::" in name for name in under_way)
    return operators == 1 and forward_ad._current_level == _NO_TANGENTS


def _is_in_function(events: list[Any]) -> bool:
    """True if the last operator began in Python code of the program that an operator has called."""
    last_ns = max((event.start_ns() for event in events), default=0)
    under_way = [event.name() for event in events if event.end_ns() >= last_ns]
    return [name for name in under_way if "::" not in name] not in ([], _DISPATCH)


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
