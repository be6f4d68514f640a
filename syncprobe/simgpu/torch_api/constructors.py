"""``torch.Tensor(...)`` and ``torch.FloatTensor(...)``: conversions that no mode of torch can see."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch

from syncprobe.events import EventKind
from syncprobe.simgpu.session import active
from syncprobe.simgpu.tensors.tensor import DeviceTensor
from syncprobe.simgpu.torch_api.patching import replaced

if TYPE_CHECKING:
    from collections.abc import Iterator

_TYPES = {
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16,
    "LongTensor": torch.int64,
    "IntTensor": torch.int32,
    "ShortTensor": torch.int16,
    "CharTensor": torch.int8,
    "ByteTensor": torch.uint8,
    "BoolTensor": torch.bool,
}


def _is_data(args: tuple[Any, ...]) -> bool:
    """True for a list or an array; sizes and tensors are not conversions."""
    return len(args) == 1 and not isinstance(args[0], (int, torch.Tensor, torch.Size))


def _report(name: str, made: torch.Tensor) -> None:
    if active.session is not None:
        active.session.sink.emit(EventKind.CONVERSION, name, nbytes=made.nbytes)


_base_new = torch._C.TensorBase.__new__


def _new(cls: Any, *args: Any, **kwargs: Any) -> Any:
    made = _base_new(cls, *args, **kwargs)
    if cls is torch.Tensor and _is_data(args):
        with torch._C.DisableTorchFunction():
            _report("torch.Tensor", made)
    return made


class _LegacyType(type):
    """Lets a replacement of ``torch.FloatTensor`` pass for the type it replaces."""

    original: Any
    dtype: torch.dtype
    on_device: bool

    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, torch.Tensor):
            return False
        return instance.dtype == cls.dtype and (type(instance) is DeviceTensor) == cls.on_device

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            made: torch.Tensor = cls.original(*args, **kwargs)
            if _is_data(args):
                _report(f"torch.{cls.__name__}", made)
        return made.to("cuda:0") if cls.on_device else made


def _legacy_type(name: str, dtype: torch.dtype, *, on_device: bool) -> Any:
    original = getattr(torch, name)
    members = {"original": original, "dtype": dtype, "on_device": on_device, "__doc__": None}
    made = _LegacyType(name, (), members)
    made.__module__ = "torch.cuda" if on_device else "torch"
    return made


def _set_default_tensor_type(t: Any) -> None:
    """``torch.set_default_tensor_type``: a type and a device in one."""
    name = t if isinstance(t, str) else f"{t.__module__}.{t.__name__}"
    module, _, kind = name.rpartition(".")
    if kind not in _TYPES:
        raise TypeError(f"invalid type object: {name}")
    torch.set_default_dtype(_TYPES[kind])
    torch.set_default_device("cuda" if module == "torch.cuda" else None)


@contextmanager
def installed() -> Iterator[None]:
    """Count what the legacy constructors make; afterwards they are what they were."""
    names = _TYPES.items()
    with ExitStack() as undo:
        host = {name: _legacy_type(name, dtype, on_device=False) for name, dtype in names}
        device = {name: _legacy_type(name, dtype, on_device=True) for name, dtype in names}
        host["set_default_tensor_type"] = _set_default_tensor_type
        undo.enter_context(replaced(torch, host))
        undo.enter_context(replaced(torch.cuda, device))
        undo.enter_context(replaced(torch.Tensor, {"__new__": staticmethod(_new)}))
        yield
