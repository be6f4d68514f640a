"""The context manager that gives torch a simulated CUDA device and takes it away again."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

import torch

from syncprobe.interrupts import finish, uninterrupted
from syncprobe.simgpu.errors import DeviceInUseError, RealDeviceError
from syncprobe.simgpu.session import Session, active

# Methods of device tensors, which they have from the start.
from syncprobe.simgpu.tensors import indexing as _indexing  # noqa: F401
from syncprobe.simgpu.tensors import kernels, movement
from syncprobe.simgpu.torch_api import (
    amp,
    children,
    constructors,
    distributed,
    facade,
    functions,
    hooks,
    modules,
    serialization,
    warned_lines,
)

if TYPE_CHECKING:
    from types import TracebackType

    from syncprobe.events import Sink


_PARTS = (
    kernels,
    amp,
    facade,
    serialization,
    functions,
    movement,
    constructors,
    modules,
    children,
    distributed,
    hooks,
    warned_lines,
)
"""Each replaces something of torch and puts it back."""


class SimulatedDevice:
    """Inside, torch has one CUDA device that computes on the host and reports to the sink."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._undo: ExitStack | None = None

    def __enter__(self) -> Self:
        if active.session is not None:
            raise DeviceInUseError
        if torch._C._has_cuda:
            raise RealDeviceError
        try:
            # If a later part fails to install, torch must not keep the earlier ones.
            with uninterrupted(), ExitStack() as undo:
                for part in _PARTS:
                    undo.enter_context(part.installed())
                active.session = Session(self._sink, has_device=True)
                undo.callback(self._deactivate)
                self._undo = undo.pop_all()
        except BaseException:
            # An interrupt that waited: nobody else will leave what was not entered.
            finish(self._leave)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        finish(self._leave)

    def _leave(self) -> None:
        if self._undo is not None:
            undo, self._undo = self._undo, None
            undo.close()

    @staticmethod
    def _deactivate() -> None:
        active.session = None
