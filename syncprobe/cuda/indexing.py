"""Reading and writing through indices and masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from syncprobe.cuda.rule import (
    WAIT,
    Call,
    DeviceRule,
    Effect,
    Effects,
    HostOperands,
    launch,
    native,
    upload,
)
from syncprobe.cuda.versions import torch_is_at_least
from syncprobe.events import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterator

_MASKS = frozenset({torch.bool, torch.uint8})
HOST_MASK_FREE_SINCE = "2.9"


def nonzero_launches(dimensions: int) -> int:
    """A sum, a selection in two kernels, and for several dimensions the indices from positions."""
    return 3 if dimensions <= 1 else 4


def _index_effects(call: Call, indices: Any) -> Iterator[Effect]:
    """Masks become indices through ``nonzero``; host indices are copied.

    A host mask is searched on the host and its indices go over from pinned memory, without waiting
    since torch 2.9; host integer indices go over with a plain ``.to``, which waits.
    """
    has_device_mask = False
    for index in indices:
        if index is None:
            continue
        is_mask = index.dtype in _MASKS
        if call.place.is_device(index):
            if is_mask:
                has_device_mask = True
                yield from (launch(index.nbytes) for _ in range(nonzero_launches(index.dim())))
        elif is_mask:
            nbytes = int(index.count_nonzero()) * index.dim() * 8
            is_blocking = not torch_is_at_least(HOST_MASK_FREE_SINCE)
            yield Effect(EventKind.COPY_TO_DEVICE, is_blocking=is_blocking, nbytes=nbytes)
        elif index.numel():
            yield upload(index.nbytes)
    if has_device_mask:
        yield WAIT


def _index(call: Call) -> Iterator[Effect]:
    yield from _index_effects(call, call.args[1])
    if call.result.numel():
        yield launch(2 * call.result.nbytes)


def _is_masked_fill(call: Call, indices: Any, value: Any) -> bool:
    """``x[mask] = 1.0`` (TensorAdvancedIndexingUtils.h: canDispatchToMaskedFill)."""
    given = [index for index in indices if index is not None]
    return (
        value.numel() == 1
        and call.is_host(value)
        and len(given) == 1
        and given[0].dtype in _MASKS
        and call.place.is_device(given[0])
        and not call.argument(3, "accumulate", default=False)
    )


def _put(clones: bool) -> Effects:
    def effects(call: Call) -> Iterator[Effect]:
        destination, indices, value = call.args[:3]
        if clones and call.clones():
            yield launch(2 * destination.nbytes)
        if _is_masked_fill(call, indices, value):
            yield launch(2 * destination.nbytes)
            return
        yield from _index_effects(call, indices)
        if call.is_host(value):
            # A number for integer indices goes over on its own.
            yield upload(value.nbytes)
        yield launch(2 * value.nbytes)

    return effects


_INDEX = native(
    "IndexingUtils.h",
    "a device mask is searched with `nonzero`, which waits; a host index is moved with `.to(device)`, "
    "which waits; a host mask is searched on the host and goes over from pinned memory",
    "2.9 for host masks",
)
_PUT = native(
    "TensorAdvancedIndexing.cpp",
    "a number at a device mask is `masked_fill_`; a number at indices is moved with `.to(device)`",
)


def _rule(effects: Effects, source: Any) -> DeviceRule:
    return DeviceRule(effects=effects, host_operands=HostOperands.ANY, source=source)


RULES: dict[str, DeviceRule] = {
    "index": _rule(_index, _INDEX),
    "_unsafe_index": _rule(_index, _INDEX),
    "index_put": _rule(_put(clones=True), _PUT),
    "index_put_": _rule(_put(clones=False), _PUT),
    "_index_put_impl_": _rule(_put(clones=False), _PUT),
    "_unsafe_index_put": _rule(_put(clones=True), _PUT),
}
