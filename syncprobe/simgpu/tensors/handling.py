"""What every handler of the simulated device does first and last."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd import forward_ad

from syncprobe.simgpu import errors
from syncprobe.simgpu.session import INSIDE, OUTSIDE, active, thread
from syncprobe.simgpu.tensors.tensor import SHOWN_DEVICE

if TYPE_CHECKING:
    from collections.abc import Callable

_has_function_mode = torch._C._is_torch_function_mode_enabled
_no_function_modes = torch._C.DisableTorchFunction
_innermost_transform = torch._C._functorch.peek_interpreter_stack


def handler(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function a handler: the outermost one of a thread stops the host clock."""

    @functools.wraps(function)
    def handle(*args: Any, **kwargs: Any) -> Any:
        session = active.session
        place = thread.place
        if session is None:
            return function(*args, **kwargs)
        was_outermost = thread.is_outermost
        thread.place, thread.is_outermost = INSIDE, place == OUTSIDE
        if place == OUTSIDE:
            session.sink.pause()
        try:
            if _has_function_mode():
                # A default device is a function mode; it must not see what handlers do on the host.
                with _no_function_modes():
                    return function(*args, **kwargs)
            return function(*args, **kwargs)
        finally:
            thread.place, thread.is_outermost = place, was_outermost
            if place == OUTSIDE:
                session.sink.resume()

    return handle


def on_own_time(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Do what the program would do itself on a GPU, too: the host clock runs meanwhile."""
    session = active.session
    if session is None or not thread.is_outermost:
        return function(*args, **kwargs)
    session.sink.resume()
    try:
        return function(*args, **kwargs)
    finally:
        session.sink.pause()


def named_device(device: Any) -> Any:
    """The device that the program named, with an index: C++ would ask CUDA for the current one."""
    if type(device) is str:
        if not device.startswith("cuda"):
            return device
        device = torch.device(device)
    elif type(device) is int:
        device = torch.device("cuda", device)
    elif type(device) is not torch.device:
        return device
    if device.type != "cuda":
        return device
    if (device.index or 0) > 0:
        raise errors.invalid_ordinal(device.index)
    return SHOWN_DEVICE


def in_transform() -> bool:
    """True inside ``vmap``, ``grad`` and forward-mode levels.

    Tensors are wrapped once more there, in a way that Python does not see: only C++ may look inside.
    """
    return _innermost_transform() is not None or forward_ad._current_level >= 0


def default_device() -> torch.device | None:
    """What ``torch.set_default_device`` or ``with torch.device(...)`` has set."""
    return torch.utils._device.CURRENT_DEVICE
