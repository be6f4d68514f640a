"""Functions of torch that make tensors: what they convert, copy and pin is not seen by dispatch."""

# mypy: disable-error-code="no-untyped-call"
# The functions of torch that are called here carry no types.

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
import torch.utils._device

from syncprobe.events import EventKind
from syncprobe.simgpu import errors
from syncprobe.simgpu.session import active
from syncprobe.simgpu.tensors.handling import (
    default_device,
    handler,
    in_transform,
    named_device,
    on_own_time,
)
from syncprobe.simgpu.tensors.pinning import mark_pinned
from syncprobe.simgpu.tensors.tensor import SHOWN_DEVICE, DeviceTensor, allocate
from syncprobe.simgpu.torch_api import distributed
from syncprobe.simgpu.torch_api.generator import is_device_generator
from syncprobe.simgpu.torch_api.patching import replaced_where_imported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def report_conversion(name: str, made: torch.Tensor) -> None:
    """A tensor was made from Python or NumPy data."""
    if active.session is not None:
        active.session.sink.emit(EventKind.CONVERSION, name, nbytes=made.nbytes)


def _has_device() -> bool:
    return active.session is not None and active.session.has_device


def upload(host: torch.Tensor, name: str) -> DeviceTensor:
    """Show fresh host values on the device, and report the copy that brought them there."""
    session = active.session
    nbytes = host.nbytes
    if session is not None and nbytes:
        session.sink.emit(EventKind.COPY_TO_DEVICE, name, is_blocking=True, nbytes=nbytes)
    return allocate(host, name)


def _from_data(original: Callable[..., Any], data_name: str) -> Callable[..., Any]:
    """``torch.tensor``, ``as_tensor`` and ``asarray``: a conversion unless given a tensor."""
    name = f"torch.{original.__name__}"
    may_share = original is not torch.tensor

    @handler
    def convert(*args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device") if _has_device() else None
        if device is not None:
            device = kwargs["device"] = named_device(device)
        elif default_device() is not None and _has_device():
            device = named_device(default_device())
        data = args[0] if args else kwargs[data_name]
        if isinstance(data, torch.Tensor):
            if kwargs.get("device") is SHOWN_DEVICE and type(data) is DeviceTensor:
                del kwargs["device"]
            return original(*args, **kwargs)
        if device is not SHOWN_DEVICE:
            should_pin = _has_device() and kwargs.pop("pin_memory", False)
            made = on_own_time(original, *args, **kwargs)
            if not _is_step_counter():
                report_conversion(name, made)
            return mark_pinned(made) if should_pin else made
        if in_transform():
            return original(*args, **kwargs)
        kwargs.pop("device", None)
        requires_grad = kwargs.pop("requires_grad", False)
        host = on_own_time(original, *args, **kwargs)
        report_conversion(name, host)
        # The device has its own copy, where the host tensor shares memory with an array.
        shown = upload(host.clone() if may_share else host, name)
        return shown.requires_grad_() if requires_grad else shown

    return convert


def _is_step_counter() -> bool:
    """Optimizers count their steps in host tensors on purpose; nobody can avoid those."""
    caller = str(sys._getframe(3).f_globals.get("__name__", ""))
    return caller.startswith("torch.optim.")


def _from_memory(original: Callable[..., Any]) -> Callable[..., Any]:
    name = f"torch.{original.__name__}"

    @handler
    def convert(*args: Any, **kwargs: Any) -> Any:
        made = on_own_time(original, *args, **kwargs)
        report_conversion(name, made)
        return made

    return convert


_SPARSE = (
    *("sparse_coo_tensor", "sparse_compressed_tensor", "sparse_csr_tensor"),
    *("sparse_csc_tensor", "sparse_bsr_tensor", "sparse_bsc_tensor"),
)
_DIRECT = frozenset({"device", "dtype", "requires_grad"})
"""What a factory can be given and still be run without going through C++ for the device."""


def _factory_on_device(original: Callable[..., Any]) -> Callable[..., Any]:
    name = f"aten::{original.__name__}"
    launches = 0 if original.__name__.startswith("empty") else 1
    draws = original.__name__.startswith("rand")

    @handler
    def make(*args: Any, requires_grad: bool = False, **kwargs: Any) -> torch.Tensor:
        shown = allocate(original(*args, **kwargs), name, launches=launches)
        if draws and active.session is not None:
            active.session.has_drawn = True
        return shown.requires_grad_(requires_grad)

    return make


def _factory(original: Callable[..., Any]) -> Callable[..., Any]:
    """Makes device tensors directly, pins host tensors, refuses generators of the other side."""
    make_on_device = _factory_on_device(original)

    def make(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            return original(*args)
        device = kwargs.get("device")
        if device is not None and _DIRECT.issuperset(kwargs) and _has_device():
            device = kwargs["device"] = named_device(device)
            if device is not SHOWN_DEVICE or in_transform():
                return original(*args, **kwargs)
            del kwargs["device"]
            return make_on_device(*args, **kwargs)
        _check_generator(kwargs)
        if not kwargs.get("pin_memory") or not _has_device():
            return original(*args, **kwargs)
        del kwargs["pin_memory"]
        made = original(*args, **kwargs)
        if made.is_cuda:
            raise RuntimeError("Only dense CPU tensors can be pinned")
        return mark_pinned(made)

    make.__name__ = original.__name__
    return make


def _sparse(original: Callable[..., Any]) -> Callable[..., Any]:
    """Sparse tensors are made on the host only; on the device, C++ would look for a kernel."""

    def make(*args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device") or default_device()
        if _has_device() and named_device(device) is SHOWN_DEVICE:
            raise errors.no_sparse()
        return original(*args, **kwargs)

    make.__name__ = original.__name__
    return make


def _check_generator(kwargs: dict[str, Any]) -> None:
    generator = kwargs.get("generator")
    if generator is None or not is_device_generator(generator):
        # Host generators for device draws are refused by dispatch.
        return
    if named_device(kwargs.get("device") or default_device()) is not SHOWN_DEVICE:
        raise errors.wrong_generator(on_device=False)


@contextmanager
def installed() -> Iterator[None]:
    """Replace the functions; afterwards they are torch's own."""
    # Remembered on first use: it must remember torch's own functions.
    torch.utils._device._device_constructors()
    replacements = {
        "tensor": _from_data(torch.tensor, "data"),
        "as_tensor": _from_data(torch.as_tensor, "data"),
        "asarray": _from_data(torch.asarray, "obj"),
        "from_numpy": _from_memory(torch.from_numpy),
        "frombuffer": _from_memory(torch.frombuffer),
    }
    for name in ("empty", "zeros", "ones", "full", "rand", "randn", "empty_strided", "range"):
        replacements[name] = _factory(getattr(torch, name))
    for name in _SPARSE:
        replacements[name] = _sparse(getattr(torch, name))
    # Scripted functions must still know them for the operators they are.
    table = torch.jit._builtins._get_builtin_table()
    known = {
        id(made): table[id(getattr(torch, name))]
        for name, made in replacements.items()
        if id(getattr(torch, name)) in table
    }
    table.update(known)
    try:
        # All in one go: looking through the modules of a large program takes longer than the rest.
        with replaced_where_imported({torch: replacements} | distributed.replacements()):
            yield
    finally:
        for address in known:
            del table[address]
