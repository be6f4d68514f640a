"""Copies between and within the sides, as the copy kernel of CUDA does them.

One memcpy moves tensors of one type whose memory is laid out alike. Everything else goes through
temporaries: a blocking copy converts on the host, an asynchronous one on the device, and both make
contiguous what is not. A temporary on the host is fresh pageable memory, whatever it is made from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from syncprobe.cuda.rule import (
    PAGEABLE_ASYNC,
    PINNED,
    Call,
    DeviceRule,
    Effect,
    HostOperands,
    Placement,
    launch,
    native,
)
from syncprobe.events import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterator

_COPY = native(
    "cuda/Copy.cu",
    "a blocking copy waits; an asynchronous one does not, if its host side is pinned and needs no "
    "temporary; a change of type or layout goes through temporaries",
)


def copy_effects(
    destination: Any, origin: Any, place: Placement, *, is_async: bool
) -> Iterator[Effect]:
    """What ``destination.copy_(origin)`` does."""
    if destination.numel() == 0 or destination is origin:
        return
    is_plain = origin.dtype == destination.dtype and _is_laid_out_alike(destination, origin)
    if place.is_device(origin):
        if place.is_device(destination):
            if not (is_plain and origin.data_ptr() == destination.data_ptr()):
                yield launch(destination.nbytes + origin.nbytes)
        elif is_plain:
            yield _to_host(destination, origin.nbytes, place, is_async=is_async)
        else:
            yield from _to_host_through_temporaries(destination, origin, place, is_async=is_async)
    elif is_plain:
        yield _to_device(origin, origin.nbytes, place, is_async=is_async)
    else:
        yield from _to_device_through_temporaries(destination, origin, place, is_async=is_async)
    if place.is_device(destination) and origin.is_conj() != destination.is_conj():
        yield launch(2 * destination.nbytes)


def _to_device_through_temporaries(
    destination: Any, origin: Any, place: Placement, *, is_async: bool
) -> Iterator[Effect]:
    """The host makes its side contiguous; a blocking copy converts there, too."""
    changes_type = origin.dtype != destination.dtype
    width = origin.itemsize if is_async else destination.itemsize
    nbytes = destination.numel() * width
    is_origin_itself = (
        origin.shape == destination.shape
        and origin.is_contiguous()
        and not (changes_type and not is_async)
    )
    # Memory of a temporary is pageable: nothing is pinned there.
    source = origin if is_origin_itself else None
    yield _to_device(source, nbytes, place, is_async=is_async)
    if not destination.is_contiguous() or (is_async and changes_type):
        yield Effect(EventKind.ALLOCATION, nbytes=nbytes)
        yield launch(nbytes + destination.nbytes)


def _to_host_through_temporaries(
    destination: Any, origin: Any, place: Placement, *, is_async: bool
) -> Iterator[Effect]:
    """The device makes its side contiguous; an asynchronous copy converts there, too."""
    changes_type = origin.dtype != destination.dtype
    width = destination.itemsize if is_async else origin.itemsize
    nbytes = destination.numel() * width
    if is_async and changes_type:
        yield Effect(EventKind.ALLOCATION, nbytes=nbytes)
        yield launch(origin.nbytes + nbytes)
    is_contiguous = origin.shape == destination.shape and origin.is_contiguous()
    is_closed_up = is_async and changes_type and not _is_dense(origin)
    if not is_contiguous and not is_closed_up:
        yield Effect(EventKind.ALLOCATION, nbytes=nbytes)
        yield launch(2 * nbytes)
    is_destination_itself = destination.is_contiguous() and (is_async or not changes_type)
    target = destination if is_destination_itself else None
    yield _to_host(target, nbytes, place, is_async=is_async)


def _to_device(origin: Any, nbytes: int, place: Placement, *, is_async: bool) -> Effect:
    return _crossing(EventKind.COPY_TO_DEVICE, origin, nbytes, place, is_async=is_async)


def _to_host(destination: Any, nbytes: int, place: Placement, *, is_async: bool) -> Effect:
    return _crossing(EventKind.COPY_TO_HOST, destination, nbytes, place, is_async=is_async)


def _crossing(
    kind: EventKind, host: Any, nbytes: int, place: Placement, *, is_async: bool
) -> Effect:
    """One memcpy between the sides; ``host`` is its host tensor, or None for a temporary."""
    is_pinned = host is not None and place.is_pinned(host)
    marks = ("", PAGEABLE_ASYNC) if is_async else (PINNED, "")
    mark = marks[0] if is_pinned else marks[1]
    return Effect(kind, is_blocking=not (is_async and is_pinned), nbytes=nbytes, mark=mark)


def _is_laid_out_alike(destination: Any, origin: Any) -> bool:
    """True if one memcpy moves it: the same order of dimensions, no gaps, no overlaps."""
    if destination.shape != origin.shape:
        return bool(origin.numel() == destination.numel() == 1)
    strides = zip(destination.shape, destination.stride(), origin.stride(), strict=True)
    return all(size == 1 or one == other for size, one, other in strides) and _is_dense(origin)


def _is_dense(tensor: Any) -> bool:
    if tensor.is_contiguous():
        return True
    return bool(torch._prims_common.is_non_overlapping_and_dense_or_false(tensor))


def _copy(call: Call) -> Iterator[Effect]:
    is_async = bool(call.argument(2, "non_blocking", default=False))
    yield from copy_effects(call.args[0], call.args[1], call.place, is_async=is_async)


def _to_copy(call: Call) -> Iterator[Effect]:
    # With non_blocking the host tensor that is made is pinned, so the host does not wait: reading it
    # early is the program's race.
    is_async = bool(call.kwargs.get("non_blocking", False))
    yield from copy_effects(call.result, call.args[0], call.place, is_async=is_async)


def _foreach_copy(call: Call) -> Iterator[Effect]:
    """One kernel for lists of one device; otherwise one copy after the other."""
    destinations, origins = call.args[0], call.args[1]
    is_async = bool(call.argument(2, "non_blocking", default=False))
    tensors = [*destinations, *origins]
    if all(call.place.is_device(tensor) for tensor in tensors):
        nbytes = sum(tensor.nbytes for tensor in tensors)
        if nbytes:
            yield launch(nbytes)
        return
    for destination, origin in zip(destinations, origins, strict=True):
        yield from copy_effects(destination, origin, call.place, is_async=is_async)


RULES: dict[str, DeviceRule] = {
    "copy_": DeviceRule(effects=_copy, host_operands=HostOperands.ANY, source=_COPY),
    "_to_copy": DeviceRule(effects=_to_copy, host_operands=HostOperands.ANY, source=_COPY),
    "_foreach_copy_": DeviceRule(
        effects=_foreach_copy,
        host_operands=HostOperands.ANY,
        source=native(
            "cuda/ForeachBinaryOpList.cu",
            "lists on both sides are copied tensor by tensor, each copy as `copy_` does it",
        ),
    ),
}
