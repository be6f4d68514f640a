"""No device at all: on the CPU only conversions can be seen, and time can be measured."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from syncprobe.simgpu import constructors, functions
from syncprobe.simgpu.session import Session, active

if TYPE_CHECKING:
    from types import TracebackType

    from syncprobe.events import Sink


class HostWatch:
    """Inside, tensors made from Python and NumPy data are reported; torch has no device it had not before."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._undo: ExitStack | None = None

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            undo.enter_context(functions.installed())
            undo.enter_context(constructors.installed())
            undo.callback(setattr, active, "session", active.session)
            active.session = Session(self._sink)
            self._undo = undo.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._undo is not None, "left without being entered"
        self._undo.close()
        self._undo = None
