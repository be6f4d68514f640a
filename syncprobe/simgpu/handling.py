"""What every handler of the simulated device does first and last."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch

from syncprobe.simgpu import errors
from syncprobe.simgpu.session import INSIDE, OUTSIDE, active, thread
from syncprobe.simgpu.tensor import SHOWN_DEVICE

if TYPE_CHECKING:
    from collections.abc import Callable

_has_function_mode = torch._C._is_torch_function_mode_enabled
_no_function_modes = torch._C.DisableTorchFunction


def handler(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function a handler: the outermost one of a thread stops the host clock."""

    @functools.wraps(function)
    def handle(*args: Any, **kwargs: Any) -> Any:
        session = active.session
        place = thread.place
        if session is None:
            return function(*args, **kwargs)
        thread.place = INSIDE
        if place == OUTSIDE:
            session.sink.pause()
        try:
            if _has_function_mode():
                # A default device is a function mode; it must not see what handlers do on the host.
                with _no_function_modes():
                    return function(*args, **kwargs)
            return function(*args, **kwargs)
        finally:
            thread.place = place
            if place == OUTSIDE:
                session.sink.resume()

    return handle


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


def default_device() -> torch.device | None:
    """What ``torch.set_default_device`` or ``with torch.device(...)`` has set."""
    return torch.utils._device.CURRENT_DEVICE
