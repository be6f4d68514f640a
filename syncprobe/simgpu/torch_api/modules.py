"""Modules whose parameters torch keeps to itself: lazy ones, which have no shape yet, and scripted ones."""

# mypy: disable-error-code="no-untyped-call"
# The functions of torch that are called here carry no types.

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch.jit._script import RecursiveScriptModule
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from syncprobe.simgpu.tensors.handling import named_device
from syncprobe.simgpu.tensors.tensor import SHOWN_DEVICE, UNSHAPED_MARK, UnshapedTensor
from syncprobe.simgpu.torch_api.patching import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _maker(original: Any) -> Any:
    """``UninitializedParameter(device="cuda")``: nothing yet, but it is known where it will be."""

    def make(cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        is_on_device = named_device(device) is SHOWN_DEVICE
        made = original(cls, *args, device=None if is_on_device else device, **kwargs)
        setattr(made, UNSHAPED_MARK, is_on_device)
        return made

    return staticmethod(make)


def _materializer(original: Callable[..., None]) -> Callable[..., None]:
    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        is_on_device = named_device(device) is SHOWN_DEVICE or (
            device is None and getattr(self, UNSHAPED_MARK, False)
        )
        original(self, shape, "cpu" if is_on_device else device, dtype)
        if is_on_device:
            # The object stays and becomes a device tensor.
            self.data = torch.empty(shape, device=SHOWN_DEVICE, dtype=self.dtype)

    return materialize


def _apply(self: Any, fn: Callable[[Any], Any], recurse: bool = True) -> Any:
    """Move a scripted module: C++ holds its tensors, so they are exchanged and not changed."""
    for module in self.children() if recurse else ():
        module._apply(fn)
    with torch.no_grad():
        for name, parameter in self._parameters.items():
            moved = torch.nn.Parameter(fn(parameter), parameter.requires_grad)
            if parameter.grad is not None:
                moved.grad = fn(parameter.grad)
            self._c.setattr(name, moved)
        for name, buffer in self._buffers.items():
            self._c.setattr(name, fn(buffer))
    return self


@contextmanager
def installed() -> Iterator[None]:
    """Let such modules move to the device; afterwards they are torch's own."""
    allowed = [*UnshapedTensor._allowed_methods, torch.Tensor.to, torch.Tensor.cuda]
    mixin = {
        "materialize": _materializer(UnshapedTensor.materialize),
        "_allowed_methods": allowed,
    }
    with ExitStack() as undo:
        undo.enter_context(replaced(UnshapedTensor, mixin))
        for owner in (UninitializedParameter, UninitializedBuffer):
            undo.enter_context(replaced(owner, {"__new__": _maker(owner.__new__)}))
        undo.enter_context(replaced(RecursiveScriptModule, {"_apply": _apply}))
        yield
