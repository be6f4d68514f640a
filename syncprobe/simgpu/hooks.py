"""The remaining places where torch must know about the device: installed and undone."""

# ruff: noqa: ARG001  # signatures are torch's

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch

# Optimizers import it on first use, and it remembers the functions of torch that it finds: it must
# not find ours.
import torch._dynamo
import torch.utils._device
from torch.optim.optimizer import _foreach_supported_types as _optimizer_types
from torch.utils._foreach_utils import _foreach_supported_types as _utility_types

from syncprobe.simgpu.generator import Generator
from syncprobe.simgpu.patching import replaced
from syncprobe.simgpu.session import OUTSIDE, active, thread
from syncprobe.simgpu.tensor import DeviceTensor

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def _backward_charged_to_caller() -> Iterator[None]:
    """Charge what autograd runs to the line that called ``backward`` or ``grad``."""
    run = vars(torch.autograd)["_engine_run_backward"]

    def run_backward(*args: Any, **kwargs: Any) -> Any:
        session = active.session
        if session is None:
            return run(*args, **kwargs)
        with session.sink.charged_to_caller():
            return run(*args, **kwargs)

    with replaced(torch.autograd, {"_engine_run_backward": run_backward}):
        yield


def _not_compiled(model: Any = None, **kwargs: Any) -> Any:
    """``torch.compile`` falls back to eager: a simulated device has nothing to compile for."""
    return model if model is not None else lambda function: function


def _module_not_compiled(self: Any, *args: Any, **kwargs: Any) -> None:
    return None


@contextmanager
def _default_device_named() -> Iterator[None]:
    """A default device without an index would make C++ ask CUDA for the current one."""
    context = torch.utils._device.DeviceContext
    original = context.__init__

    def initialize(self: Any, device: Any) -> None:
        original(self, device)
        if self.device.type == "cuda":
            self.device = torch.device("cuda", self.device.index or 0)

    with replaced(context, {"__init__": initialize}):
        try:
            yield
        finally:
            # A program that set the default device and did not unset it.
            current = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
            if current is not None and current.device.type == "cuda":
                torch.set_default_device(None)


@contextmanager
def _foreach_supported() -> Iterator[None]:
    """Optimizers take the ``foreach`` path for device parameters, as on CUDA."""
    lists: tuple[list[Any], ...] = (_optimizer_types, _utility_types)
    for types in lists:
        types.append(DeviceTensor)
    try:
        yield
    finally:
        for types in lists:
            types.remove(DeviceTensor)


@contextmanager
def installed() -> Iterator[None]:
    """All of the above."""
    with ExitStack() as undo:
        enter = undo.enter_context
        enter(replaced(torch, {"Generator": Generator, "compile": _not_compiled}))
        enter(replaced(torch.nn.Module, {"compile": _module_not_compiled}))
        # What was compiled before runs eagerly too.
        enter(torch.compiler.set_stance("force_eager"))
        enter(_foreach_supported())
        enter(_default_device_named())
        enter(_backward_charged_to_caller())
        # An interrupted handler must not leave the thread inside.
        undo.callback(_leave)
        _leave()
        yield


def _leave() -> None:
    thread.place = OUTSIDE
