"""``torch.cuda.set_sync_debug_mode``: the program is warned, or stopped, when the host waits.

CUDA sees most waits there, ``Stream.synchronize`` among them, but not those for an event or for the whole
device, and no asynchronous copy (c10/cuda/CUDAFunctions.cpp, CUDAStream.h, CUDAEvent.h).
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from syncprobe.cuda.rule import PAGEABLE_ASYNC
from syncprobe.events import EventKind
from syncprobe.simgpu.session import active

if TYPE_CHECKING:
    from syncprobe.events import Sink

_LEVELS = {"default": 0, "warn": 1, "error": 2}
_ERROR = _LEVELS["error"]
_MESSAGE = "called a synchronizing CUDA operation"


class _Guarded:
    """A sink that speaks up after what makes the host wait."""

    def __init__(self, sink: Sink, level: int) -> None:
        self.sink, self.level = sink, level

    def __getattr__(self, name: str) -> Any:
        return getattr(self.sink, name)

    def emit(
        self, kind: EventKind, operation: str, *, is_blocking: bool = False, **amounts: int
    ) -> None:
        """Hand the event on, then warn or stop."""
        self.sink.emit(kind, operation, is_blocking=is_blocking, **amounts)
        if not is_blocking or not _is_seen(kind, operation):
            return
        if self.level == _ERROR:
            raise RuntimeError(_MESSAGE)
        warnings.warn(_MESSAGE, UserWarning, stacklevel=4)


def _is_seen(kind: EventKind, operation: str) -> bool:
    if kind is EventKind.EXPLICIT_SYNC:
        return operation == "torch.cuda.Stream.synchronize"
    return not operation.endswith(f"({PAGEABLE_ASYNC})")


def set_mode(debug_mode: int | str) -> None:
    """Warn (``"warn"``, 1) or stop (``"error"``, 2) from now on, or neither (``"default"``, 0)."""
    level = _LEVELS.get(debug_mode, -1) if isinstance(debug_mode, str) else debug_mode
    if level not in _LEVELS.values():
        raise RuntimeError(
            "invalid value of debug_mode, expected one of `default`, `warn`, `error`"
        )
    session: Any = active.session
    if session is None:
        return
    sink = session.sink.sink if isinstance(session.sink, _Guarded) else session.sink
    session.sink = _Guarded(sink, level) if level else sink


def get_mode() -> int:
    """The mode as a number."""
    sink = None if active.session is None else active.session.sink
    return sink.level if isinstance(sink, _Guarded) else 0
