"""Streams and events of the simulated device: everything is in order, so they only keep their word."""

# ruff: noqa: ARG001, ARG002  # signatures are torch's

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any, Self

from syncprobe.events import EventKind
from syncprobe.simgpu.session import OUTSIDE, active, thread
from syncprobe.simgpu.tensors.tensor import SHOWN_DEVICE

if TYPE_CHECKING:
    from types import TracebackType

    import torch

_numbers = itertools.count(1)


def report_sync(operation: str, kind: EventKind = EventKind.EXPLICIT_SYNC) -> None:
    """The host waits for the device."""
    session = active.session
    if session is None:
        return
    is_outermost = thread.place == OUTSIDE
    if is_outermost:
        session.sink.pause()
    try:
        session.sink.emit(kind, operation, is_blocking=True)
    finally:
        if is_outermost:
            session.sink.resume()


class Stream:
    """An ordered queue of work; all of them are one queue here."""

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        self.device: torch.device = SHOWN_DEVICE
        self.device_index = 0
        self.device_type = 1
        self.priority = priority
        self.stream_id = self.cuda_stream = kwargs.get("stream_id", next(_numbers))

    def synchronize(self) -> None:
        """Wait for the work on this stream."""
        report_sync("torch.cuda.Stream.synchronize")

    def query(self) -> bool:
        """True: work is done when its call returns."""
        return True

    def is_capturing(self) -> bool:
        """False: there are no graphs."""
        return False

    def wait_event(self, event: Event) -> None:
        """Order this stream after an event; the host does not wait."""

    def wait_stream(self, stream: Stream) -> None:
        """Order this stream after another; the host does not wait."""

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event on this stream."""
        event = event if event is not None else Event()
        event.record(self)
        return event

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.stream_id == other.stream_id

    def __hash__(self) -> int:
        return hash(self.stream_id)

    def __enter__(self) -> Self:
        self._previous = current_stream()
        _current[0] = self
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _current[0] = self._previous


class Event:
    """A moment on a stream. Times are the host's, since the host does the work."""

    def __init__(
        self,
        device: Any = None,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        external: bool = False,
    ) -> None:
        self.enable_timing = enable_timing
        self.device: torch.device = SHOWN_DEVICE
        self.event_id = self.cuda_event = next(_numbers)
        self._recorded_ns: int | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Note the moment."""
        self._recorded_ns = time.perf_counter_ns()

    def wait(self, stream: Stream | None = None) -> None:
        """Order a stream after this event; the host does not wait."""

    def query(self) -> bool:
        """True: work is done when its call returns."""
        return True

    def synchronize(self) -> None:
        """Wait until the work before this event is done; there is none before it was recorded."""
        if self._recorded_ns is not None:
            report_sync("torch.cuda.Event.synchronize")

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds of host time between two recorded events."""
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._recorded_ns is None or end_event._recorded_ns is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end_event._recorded_ns - self._recorded_ns) / 1e6

    def ipc_handle(self) -> bytes:
        """Refused: there is no device memory to share."""
        raise RuntimeError("The simulated device has no memory that processes could share.")


_default = Stream(stream_id=0)
_current: list[Stream] = [_default]


def default_stream(device: Any = None) -> Stream:
    """The stream that work goes to unless told otherwise."""
    return _default


def current_stream(device: Any = None) -> Stream:
    """The stream that work goes to now."""
    return _current[0]


def set_stream(stream: Stream | None) -> None:
    """Choose the stream that work goes to."""
    if stream is not None:
        _current[0] = stream


class StreamContext:
    """``with torch.cuda.stream(s):``, which also takes None."""

    def __init__(self, stream: Stream | None) -> None:
        self._stream = stream

    def __enter__(self) -> None:
        if self._stream is not None:
            self._stream.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._stream is not None:
            self._stream.__exit__(kind, error, trace)
