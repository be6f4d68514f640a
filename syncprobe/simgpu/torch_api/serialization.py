"""Saving and loading: files hold plain host tensors with their device recorded, as CUDA's do."""

# ruff: noqa: ARG001  # signatures are torch's
# mypy: disable-error-code="no-untyped-call"
# The functions of torch that are called here carry no types.

from __future__ import annotations

from collections import OrderedDict
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch
import torch.serialization

from syncprobe.events import EventKind
from syncprobe.simgpu import errors
from syncprobe.simgpu.session import active
from syncprobe.simgpu.tensors.tensor import DeviceTensor, allocate, wrap
from syncprobe.simgpu.torch_api.patching import replaced

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARK = "_syncprobe_device"
_LOCATION = "cuda:0"

_PRIORITY = 5
"""Before the host's own entry in torch's registry (10): the storages are host storages."""


def _reduce(tensor: DeviceTensor, protocol: int) -> Any:
    """Pickle as torch pickles a CUDA tensor: through its storage, which knows where it lives."""
    with torch._C.DisableTorchFunction():
        if getattr(tensor, "_is_param", False):
            plain = wrap(tensor._host, tensor._block)
            return torch._utils._rebuild_parameter, (plain, tensor.requires_grad, OrderedDict())
        host = tensor._host
        storage = host.untyped_storage()
        if active.session is not None:
            active.session.sink.emit(
                EventKind.COPY_TO_HOST, "torch.save", is_blocking=True, nbytes=storage.nbytes()
            )
        setattr(storage, _MARK, True)
        typed = torch.storage.TypedStorage(wrap_storage=storage, dtype=host.dtype, _internal=True)
        shape = host.storage_offset(), tuple(host.size()), host.stride()
        return torch._utils._rebuild_tensor_v2, (
            typed,
            *shape,
            tensor.requires_grad,
            OrderedDict(),
            # Whether it is conjugated or negated is not in the memory.
            torch._utils.get_tensor_metadata(host),
        )


def _location(storage: Any) -> str | None:
    return _LOCATION if getattr(storage, _MARK, False) else None


def _restore(storage: Any, location: str) -> Any:
    if active.session is None or not location.startswith("cuda"):
        return None
    if (torch.device(location).index or 0) > 0:
        raise errors.invalid_ordinal(torch.device(location).index or 0)
    setattr(storage, _MARK, True)
    return storage


def _rebuilder(original: Any) -> Any:
    def rebuild(storage: Any, storage_offset: Any, size: Any, stride: Any) -> Any:
        made = original(storage, storage_offset, size, stride)
        session = active.session
        if session is None or not getattr(storage._untyped_storage, _MARK, False):
            return made
        with torch._C.DisableTorchFunction():
            session.sink.emit(
                EventKind.COPY_TO_DEVICE, "torch.load", is_blocking=True, nbytes=made.nbytes
            )
            return allocate(made, "torch.load")

    return rebuild


def _metadata_setter(original: Any) -> Any:
    def set_tensor_metadata(tensor: torch.Tensor, metadata: dict[str, bool]) -> None:
        original(tensor, metadata)
        if type(tensor) is DeviceTensor:
            original(tensor._host, metadata)
            tensor._has_bits = True

    return set_tensor_metadata


@contextmanager
def installed() -> Iterator[None]:
    """Teach torch.save and torch.load about device tensors; afterwards they have forgotten."""
    registry = torch.serialization._package_registry
    entry = (_PRIORITY, _location, _restore)
    with ExitStack() as undo:
        registry.append(entry)
        undo.callback(registry.remove, entry)
        registry.sort(key=lambda row: row[0])
        replacements = {
            "_rebuild_tensor": _rebuilder(torch._utils._rebuild_tensor),
            "set_tensor_metadata": _metadata_setter(torch._utils.set_tensor_metadata),
        }
        undo.enter_context(replaced(torch._utils, replacements))
        yield


DeviceTensor.__reduce_ex__ = _reduce  # type: ignore[assignment]  # protocol 2 and up are one to torch
