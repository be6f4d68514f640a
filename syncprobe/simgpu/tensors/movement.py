"""Moving tensors between the sides: ``to``, ``cuda``, ``cpu``, and pinned memory."""

# ruff: noqa: ARG001  # signatures are torch's

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from syncprobe.cuda.copies import copy_effects
from syncprobe.cuda.rule import PINNED
from syncprobe.simgpu import errors
from syncprobe.simgpu.session import active
from syncprobe.simgpu.tensors.dispatch import PLACEMENT
from syncprobe.simgpu.tensors.handling import handler, in_transform, named_device
from syncprobe.simgpu.tensors.pinning import is_pinned, mark_pinned, pinned_copy
from syncprobe.simgpu.tensors.tensor import (
    BACKEND_DEVICE,
    SHOWN_DEVICE,
    UNSHAPED_MARK,
    DeviceTensor,
    UnshapedTensor,
    allocate,
    base_data,
    move_data,
)
from syncprobe.simgpu.torch_api.functions import report_conversion, upload
from syncprobe.simgpu.torch_api.patching import replaced

if TYPE_CHECKING:
    from collections.abc import Iterator

_base = torch._C.TensorBase
_base_to: Any = _base.to
_base_device: Any = _base.device
_base_type: Any = _base.type
_parse: Any = torch._C._nn._parse_to
_HOST = torch.device("cpu")


def _is_differentiable(tensor: torch.Tensor) -> bool:
    return (tensor.requires_grad and torch.is_grad_enabled()) or in_transform()


def _report_copy(destination: Any, origin: Any, *, is_async: bool) -> None:
    session = active.session
    if session is None:
        return
    for effect in copy_effects(destination, origin, PLACEMENT, is_async=is_async):
        session.sink.emit(
            effect.kind,
            effect.operation("aten::copy_"),
            is_blocking=effect.is_blocking,
            nbytes=effect.nbytes,
        )


def _with_device(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
    """The arguments of ``to`` with their device named, and that device."""
    if not args and "other" in kwargs:
        args = (kwargs.pop("other"),)
    if not args:
        target = kwargs.get("device")
        if target is not None:
            target = kwargs["device"] = named_device(target)
        return args, target
    target = args[0]
    if isinstance(target, torch.dtype) or target is None:
        return args, kwargs.get("device")
    if isinstance(target, torch.Tensor):
        args = (target.device, target.dtype, *args[1:])
        target = target.device
    target = named_device(target)
    return (target, *args[1:]), target


def _to(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """``Tensor.to`` of a tensor that is not on the device."""
    args, target = _with_device(args, kwargs)
    if target is not SHOWN_DEVICE:
        return _base_to(self, *args, **kwargs)
    return _to_device(self, args, kwargs)


@handler
def _to_device(tensor: torch.Tensor, args: Any, kwargs: dict[str, Any]) -> Any:
    if tensor.is_nested:
        raise errors.no_nested()
    if tensor.layout is not torch.strided:
        raise errors.no_mkldnn() if tensor.is_mkldnn else errors.no_sparse()
    if isinstance(tensor, UnshapedTensor):
        setattr(tensor, UNSHAPED_MARK, True)
        return tensor
    if _is_differentiable(tensor) or type(tensor) not in _PLAIN:
        return _base_to(tensor, *args, **kwargs)
    if len(args) == 1 and not kwargs:
        # By far the most common call: same type, same layout, blocking.
        return upload(tensor.detach().clone(), _FROM_PINNED if is_pinned(tensor) else "aten::copy_")
    kwargs.pop("copy", None)
    _, dtype, is_async, memory_format = _parse(*args, **kwargs)
    wanted = dtype if dtype is not None else tensor.dtype
    host = _base_to(
        tensor.detach(), wanted, copy=True, memory_format=memory_format or torch.preserve_format
    )
    shown = allocate(host, "aten::_to_copy")
    _report_copy(shown, tensor, is_async=is_async)
    return shown


_FROM_PINNED = f"aten::copy_ ({PINNED})"
_PLAIN = frozenset({torch.Tensor, torch.nn.Parameter})


def _device_to(self: DeviceTensor, *args: Any, **kwargs: Any) -> Any:
    """``Tensor.to`` of a tensor on the device."""
    args, target = _with_device(args, kwargs)
    if target is None:
        return _base_to(self, *args, **kwargs)
    if target is SHOWN_DEVICE:
        # C++ must see that the tensor is there already.
        if args:
            return _base_to(self, BACKEND_DEVICE, *args[1:], **kwargs)
        kwargs["device"] = BACKEND_DEVICE
        return _base_to(self, **kwargs)
    if torch.device(target).type == "cpu" and not _is_differentiable(self):
        return _to_host(self, args, kwargs)
    return _base_to(self, *args, **kwargs)


@handler
def _to_host(tensor: DeviceTensor, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
    kwargs.pop("copy", None)
    _, dtype, is_async, memory_format = _parse(*args, **kwargs)
    wanted = dtype if dtype is not None else tensor.dtype
    host: torch.Tensor = _base_to(
        tensor._host, wanted, copy=True, memory_format=memory_format or torch.preserve_format
    )
    if is_async:
        # torch allocates the destination of an asynchronous copy in pinned memory.
        mark_pinned(host)
    _report_copy(host, tensor, is_async=is_async)
    return host


def _device_cpu(self: DeviceTensor, memory_format: Any = torch.preserve_format) -> Any:
    return _device_to(self, _HOST, memory_format=memory_format)


def _cuda(
    self: torch.Tensor,
    device: Any = None,
    non_blocking: bool = False,
    memory_format: Any = torch.preserve_format,
) -> Any:
    target = named_device("cuda" if device is None else device)
    if target is not SHOWN_DEVICE:
        raise RuntimeError(f"Invalid device, must be cuda device but got {target}")
    return self.to(target, non_blocking=non_blocking, memory_format=memory_format)


def _type(self: torch.Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    if dtype is None:
        return _base_type(self)
    name = dtype if isinstance(dtype, str) else f"{getattr(dtype, '__module__', '')}."
    if name.startswith("torch.cuda."):
        return DeviceTensor.type(self, dtype, non_blocking)  # type: ignore[arg-type]  # it only calls to()
    return _base_type(self, getattr(dtype, "original", dtype), non_blocking=non_blocking)


def _shown_device(self: torch.Tensor) -> torch.device:
    # Wrappers of functorch are plain tensors to Python, whatever they wrap.
    device: torch.device = _base_device.__get__(self)
    return SHOWN_DEVICE if device.type == "lazy" else device


def _shown_is_cuda(self: torch.Tensor) -> bool:
    return _shown_device(self) is SHOWN_DEVICE


def _set_data(self: torch.Tensor, value: torch.Tensor) -> None:
    if type(value) is DeviceTensor:
        move_data(self, value)
    else:
        base_data.__set__(self, value)


@handler
def _pin_memory(self: torch.Tensor, device: Any = None) -> torch.Tensor:
    return pinned_copy(self)


def _is_pinned(self: torch.Tensor, device: Any = None) -> bool:
    return is_pinned(self)


@handler
def _new_tensor(self: torch.Tensor, data: Any, **kwargs: Any) -> Any:
    device = named_device(kwargs.pop("device", None))
    if device is None:
        device = SHOWN_DEVICE if type(self) is DeviceTensor else _HOST
    dtype = kwargs.get("dtype") or self.dtype
    if isinstance(data, torch.Tensor):
        made = data.detach().to(device, dtype, copy=True)
    else:
        made = _tensor(data, dtype=dtype)
        report_conversion("torch.Tensor.new_tensor", made)
        if device is SHOWN_DEVICE:
            made = upload(made, "torch.Tensor.new_tensor")
    return made.requires_grad_(bool(kwargs.get("requires_grad", False)))


_tensor = torch.tensor


@contextmanager
def installed() -> Iterator[None]:
    """Replace the methods; afterwards they are torch's own."""
    replacements = {
        "to": _to,
        "cuda": _cuda,
        "type": _type,
        "pin_memory": _pin_memory,
        "is_pinned": _is_pinned,
        "new_tensor": _new_tensor,
        "device": property(_shown_device),
        "is_cuda": property(_shown_is_cuda),
        "data": property(base_data.__get__, _set_data),
    }
    can_copy = torch._has_compatible_shallow_copy_type

    def can_take_data(tensor: torch.Tensor, other: torch.Tensor) -> bool:
        # Modules that move keep their parameters: assigning their data moves them too.
        return DeviceTensor in {type(tensor), type(other)} or can_copy(tensor, other)

    functions = {"_has_compatible_shallow_copy_type": can_take_data}
    with replaced(torch.Tensor, replacements), replaced(torch, functions):
        yield


DeviceTensor.to = _device_to  # type: ignore[assignment,method-assign]  # overloads in the stub
DeviceTensor.cpu = _device_cpu  # type: ignore[method-assign,assignment]  # defined here, where copies are
DeviceTensor.cuda = _cuda  # type: ignore[method-assign,assignment]  # also after the device is gone
DeviceTensor.new_tensor = _new_tensor  # type: ignore[method-assign]  # the same
