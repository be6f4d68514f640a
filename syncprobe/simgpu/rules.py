"""What a CUDA device does for each operator: one table, usable with a simulated or a real device.

A rule is a pure function of the operator, its arguments and its result; where a tensor lives is
asked through a :class:`Placement`, so that nothing here knows the wrapper of the simulation.

Where a rule is known from is said next to it. ``headers`` are the C++ headers inside the torch
wheel; ``trace`` is the list of operators that torch's own profiler shows inside the operator on the
CPU (the same C++ runs for CUDA where both share it); ``tags`` are torch's operator tags; ``source``
is knowledge of torch's C++ or CUDA source, which is not in the wheel: such a rule could not be checked
here, and none of them was confirmed on a GPU.

An ``implicit_sync`` is counted once per operator that waits, however often it waits inside: some
read two values (``bincount`` its minimum and maximum), and the host loses the queue only once.
"""

# ruff: noqa: ARG001  # signatures are torch's

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from syncprobe.declarations import declared_launches
from syncprobe.events import EventKind
from syncprobe.simgpu.flops import FLOPS
from syncprobe.simgpu.operators import ALLOCATING, LAUNCHING, SILENT


class HostOperands(enum.Enum):
    """Which host tensors an operator accepts next to device tensors."""

    NONE = enum.auto()
    """Any host tensor is an error."""
    SCALARS = enum.auto()
    """Host tensors without dimensions are read as scalars (TensorIterator, ``foreach``)."""
    ANY = enum.auto()
    """The operator moves host tensors itself, or wants them there."""


class Effect(NamedTuple):
    """One event that the operator causes."""

    kind: EventKind
    is_blocking: bool = False
    nbytes: int = 0
    flops: int = 0


class Placement(NamedTuple):
    """Where tensors live."""

    is_device: Callable[[Any], bool]
    is_pinned: Callable[[Any], bool]


class Call(NamedTuple):
    """One operator call, finished."""

    overload: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any
    place: Placement

    def argument(self, position: int, name: str, default: Any = None) -> Any:
        """An argument that may have been given by position or by name."""
        if len(self.args) > position:
            return self.args[position]
        return self.kwargs.get(name, default)


Waits = Callable[[Call], bool]
Effects = Callable[[Call], Iterator[Effect]]


@dataclass(frozen=True, slots=True)
class Rule:
    """What is known about one operator."""

    launches: int = 1
    """Operations dispatched to the device; several kernels where the table knows."""
    allocates: bool = True
    """Its fresh results are newly allocated device memory."""
    waits: Waits | None = None
    """Says whether this call makes the host wait for device data."""
    effects: Effects | None = None
    """Replaces the launch (and the wait) where they depend on the arguments."""
    flops: Callable[..., int] | None = None
    host_operands: HostOperands = HostOperands.NONE
    is_known: bool = True


def _always(call: Call) -> bool:
    return True


# --- Copies ---------------------------------------------------------------------------------------


def copy_effects(
    destination: Any, origin: Any, place: Placement, *, is_async: bool
) -> Iterator[Effect]:
    """A copy between or within the sides (source: Copy.cu).

    A copy that changes the type or the layout goes through a temporary: blocking ones convert on
    the host, non-blocking ones on the device, which then costs a launch.
    """
    from_device, to_device = place.is_device(origin), place.is_device(destination)
    elements = destination.numel()
    if elements == 0:
        return
    if from_device and to_device:
        yield Effect(EventKind.LAUNCH, nbytes=destination.nbytes + origin.nbytes)
        return
    if to_device:
        changes_type = origin.dtype != destination.dtype
        on_device = (is_async and changes_type) or not _is_dense(destination)
        width = origin.itemsize if is_async else destination.itemsize
        is_pinned = place.is_pinned(origin) and not (changes_type and not is_async)
        yield Effect(
            EventKind.COPY_TO_DEVICE,
            is_blocking=not (is_async and is_pinned),
            nbytes=elements * width,
        )
        if on_device:
            yield Effect(EventKind.ALLOCATION, nbytes=elements * width)
            yield Effect(EventKind.LAUNCH, nbytes=elements * (width + destination.itemsize))
        return
    changes_type = origin.dtype != destination.dtype
    width = destination.itemsize if is_async else origin.itemsize
    if (is_async and changes_type) or not _is_dense(origin):
        yield Effect(EventKind.ALLOCATION, nbytes=elements * width)
        yield Effect(EventKind.LAUNCH, nbytes=elements * (width + origin.itemsize))
    yield Effect(
        EventKind.COPY_TO_HOST,
        is_blocking=not (is_async and place.is_pinned(destination)),
        nbytes=elements * width,
    )


def _is_dense(tensor: Any) -> bool:
    """True if one memcpy moves it: no gaps and no overlaps, in whatever order of dimensions."""
    if tensor.is_contiguous():
        return True
    return bool(torch._prims_common.is_non_overlapping_and_dense_or_false(tensor))


def _copy(call: Call) -> Iterator[Effect]:
    is_async = bool(call.argument(2, "non_blocking", default=False))
    yield from copy_effects(call.args[0], call.args[1], call.place, is_async=is_async)


def _to_copy(call: Call) -> Iterator[Effect]:
    # With non_blocking, _to_copy pins the host tensor it makes (source: TensorConversions.cpp,
    # pin_out), so the host does not wait: reading it early is the program's race.
    is_async = bool(call.kwargs.get("non_blocking", False))
    yield from copy_effects(call.result, call.args[0], call.place, is_async=is_async)


# --- Indexing -------------------------------------------------------------------------------------


def _index_effects(call: Call, indices: Any) -> Iterator[Effect]:
    """Masks become indices through ``nonzero``; host indices are copied (headers: IndexingUtils.h).

    A host mask is searched on the host and its indices go over from pinned memory, without waiting;
    host integer indices go over with a plain ``.to``, which waits.
    """
    has_device_mask = False
    for index in indices:
        if index is None:
            continue
        is_mask = index.dtype in {torch.bool, torch.uint8}
        if call.place.is_device(index):
            has_device_mask = has_device_mask or is_mask
        elif is_mask:
            count = int(index.count_nonzero()) * index.dim() * 8
            yield Effect(EventKind.COPY_TO_DEVICE, nbytes=count)
        elif index.numel():
            yield Effect(EventKind.COPY_TO_DEVICE, is_blocking=True, nbytes=index.nbytes)
    if has_device_mask:
        # nonzero: count, then select.
        yield Effect(EventKind.LAUNCH)
        yield Effect(EventKind.IMPLICIT_SYNC, is_blocking=True)


def _index(call: Call) -> Iterator[Effect]:
    yield from _index_effects(call, call.args[1])
    if call.result.numel():
        yield Effect(EventKind.LAUNCH, nbytes=2 * call.result.nbytes)


def _is_masked_fill(call: Call, indices: Any, value: Any) -> bool:
    """``x[mask] = 1.0`` (headers: canDispatchToMaskedFill in TensorAdvancedIndexingUtils.h)."""
    given = [index for index in indices if index is not None]
    return (
        value.numel() == 1
        and not call.place.is_device(value)
        and len(given) == 1
        and given[0].dtype in {torch.bool, torch.uint8}
        and call.place.is_device(given[0])
        and not call.argument(3, "accumulate", default=False)
    )


def _index_put(call: Call) -> Iterator[Effect]:
    destination, indices, value = call.args[:3]
    if _is_masked_fill(call, indices, value):
        yield Effect(EventKind.LAUNCH, nbytes=2 * destination.nbytes)
        return
    yield from _index_effects(call, indices)
    if not call.place.is_device(value):
        # A scalar for integer indices goes over on its own (source: _index_put_impl_).
        yield Effect(EventKind.COPY_TO_DEVICE, is_blocking=True, nbytes=value.nbytes)
    yield Effect(EventKind.LAUNCH, nbytes=2 * value.nbytes)


def _device_scalar_read(position: int, name: str) -> Effects:
    """Operators that turn a 0-dim tensor into a Python number with ``value.item()``."""

    def effects(call: Call) -> Iterator[Effect]:
        if call.place.is_device(call.argument(position, name)):
            yield Effect(EventKind.SCALAR_READ, is_blocking=True, nbytes=call.args[0].itemsize)
        yield Effect(EventKind.LAUNCH, nbytes=2 * call.args[0].nbytes)

    return effects


def _local_scalar_dense(call: Call) -> Iterator[Effect]:
    yield Effect(EventKind.SCALAR_READ, is_blocking=True, nbytes=call.args[0].itemsize)


# --- Operators that wait --------------------------------------------------------------------------


def _equal(call: Call) -> Iterator[Effect]:
    """Different shapes, and a tensor and itself, are told without looking (source: cuda_equal)."""
    first, second = call.args[:2]
    if first.shape == second.shape and first.numel() > 0 and first is not second:
        yield Effect(EventKind.LAUNCH, nbytes=first.nbytes + second.nbytes)
        yield Effect(EventKind.LAUNCH, nbytes=first.numel())
        yield Effect(EventKind.IMPLICIT_SYNC, is_blocking=True)


def _repeat_interleave_waits(call: Call) -> bool:
    """The total of the repeats is read unless it is given (headers: Repeat.h)."""
    return call.kwargs.get("output_size") is None


def _normal_waits(call: Call) -> bool:
    """A tensor of deviations is checked to be positive (headers: DistributionTemplates.h)."""
    deviation = call.argument(1, "std")
    return isinstance(deviation, torch.Tensor) and deviation.numel() > 0


_MODE_FUSED_SLICE = 2048
"""Longest slice that the fused ``mode`` kernel takes (headers: TensorModeKernel.cuh)."""


def _mode_waits(call: Call) -> bool:
    """Long slices are sorted one by one and their result is copied (source: TensorModeKernel.cu)."""
    tensor, dimension = call.args[0], call.argument(1, "dim", default=-1)
    return tensor.dim() > 0 and int(tensor.shape[dimension]) > _MODE_FUSED_SLICE


def _histc_waits(call: Call) -> bool:
    """Without bounds the minimum and the maximum are read (trace: aminmax, item, item)."""
    low, high = call.argument(2, "min", default=0), call.argument(3, "max", default=0)
    return bool(low == high) and call.args[0].numel() > 0


def _isin_waits(call: Call) -> bool:
    """Large test sets are made unique first (source: isin_Tensor_Tensor_out)."""
    elements, tested = call.args[:2]
    if not (isinstance(elements, torch.Tensor) and isinstance(tested, torch.Tensor)):
        return False
    is_small = tested.numel() < 10.0 * float(elements.numel()) ** 0.145
    return not is_small and not call.kwargs.get("assume_unique", False)


def _searchsorted_waits(call: Call) -> bool:
    """A sorter is checked to be in range (headers: BucketizationUtils.h)."""
    return call.kwargs.get("sorter") is not None


def _checked_waits(call: Call) -> bool:
    """The ``_ex`` factorizations look at their error codes only when asked to."""
    names = [argument.name for argument in call.overload._schema.arguments]
    position = names.index("check_errors")
    return bool(call.argument(position, "check_errors", default=False))


def _one_hot_waits(call: Call) -> bool:
    """Without a number of classes the maximum is read (trace: aminmax, item)."""
    return bool(call.argument(1, "num_classes", default=-1) == -1)


def _segment_reduce_waits(call: Call) -> bool:
    """Lengths are checked unless the caller vouches for them (source: SegmentReduce.cpp)."""
    return not call.kwargs.get("unsafe", False)


_SCALARS = HostOperands.SCALARS
_ANY = HostOperands.ANY

_SPECIAL: dict[str, Rule] = {
    # One value to the host (source: CUDAScalar.cu; tags: data_dependent_output).
    "_local_scalar_dense": Rule(effects=_local_scalar_dense, allocates=False),
    # Copies (source: Copy.cu; headers: cuda/Copy.h).
    "copy_": Rule(effects=_copy, host_operands=_ANY),
    "_to_copy": Rule(effects=_to_copy, host_operands=_ANY),
    # Indexing (headers: IndexingUtils.h, TensorAdvancedIndexingUtils.h).
    "index": Rule(effects=_index, host_operands=_ANY),
    "_unsafe_index": Rule(effects=_index, host_operands=_ANY),
    "index_put": Rule(effects=_index_put, host_operands=_ANY),
    "index_put_": Rule(effects=_index_put, host_operands=_ANY),
    "_index_put_impl_": Rule(effects=_index_put, host_operands=_ANY),
    "_unsafe_index_put": Rule(effects=_index_put, host_operands=_ANY),
    # Shapes that depend on data (tags: dynamic_output_shape).
    "nonzero": Rule(waits=_always, launches=2),
    "masked_select": Rule(waits=_always, launches=2),
    "_unique": Rule(waits=_always),
    "_unique2": Rule(waits=_always),
    "unique_dim": Rule(waits=_always),
    "unique_consecutive": Rule(waits=_always),
    "unique_dim_consecutive": Rule(waits=_always),
    "bincount": Rule(waits=_always),
    "repeat_interleave": Rule(waits=_repeat_interleave_waits),
    "one_hot": Rule(waits=_one_hot_waits, launches=2),
    # Answers that Python gets (tags: data_dependent_output).
    "equal": Rule(effects=_equal, allocates=False),
    "allclose": Rule(waits=_always, launches=2),
    # Arguments checked on the host.
    "normal": Rule(waits=_normal_waits, launches=3, host_operands=_SCALARS),
    "mode": Rule(waits=_mode_waits),
    "histc": Rule(waits=_histc_waits),
    "isin": Rule(waits=_isin_waits, host_operands=_SCALARS),
    "searchsorted": Rule(waits=_searchsorted_waits),
    "segment_reduce": Rule(waits=_segment_reduce_waits),
    # Indices are made unique before rows are scaled (source: embedding_renorm_cuda_).
    "embedding_renorm_": Rule(waits=_always),
    # Lengths and offsets travel both ways (source: LossCTC.cu; tags: dynamic_output_shape).
    "_ctc_loss": Rule(waits=_always, host_operands=_ANY),
    "_ctc_loss_backward": Rule(waits=_always, host_operands=_ANY),
    # Linear algebra that looks at its error codes (trace: _linalg_check_errors inside).
    "_linalg_check_errors": Rule(waits=_always, launches=1, allocates=False),
    "_linalg_eigh": Rule(waits=_always),
    "_linalg_svd": Rule(waits=_always),
    "cholesky": Rule(waits=_always),
    "linalg_eig": Rule(waits=_always),
    "linalg_eigvals": Rule(waits=_always),
    "_linalg_eigvals": Rule(waits=_always),
    "linalg_lstsq": Rule(waits=_always),
    "linalg_pinv": Rule(waits=_always),
    "linalg_cholesky_ex": Rule(waits=_checked_waits),
    "linalg_inv_ex": Rule(waits=_checked_waits),
    "linalg_lu_factor_ex": Rule(waits=_checked_waits),
    "linalg_ldl_factor_ex": Rule(waits=_checked_waits),
    "_linalg_solve_ex": Rule(waits=_checked_waits),
    # Matrices are sorted by norm with nonzero (trace: five nonzero inside).
    "linalg_matrix_exp": Rule(waits=_always),
    # A device scalar is read with item() (source: masked_fill__cuda, index_fill_).
    "masked_fill": Rule(effects=_device_scalar_read(2, "value"), host_operands=_SCALARS),
    "masked_fill_": Rule(effects=_device_scalar_read(2, "value"), host_operands=_SCALARS),
    "index_fill": Rule(effects=_device_scalar_read(3, "value"), host_operands=_SCALARS),
    "index_fill_": Rule(effects=_device_scalar_read(3, "value"), host_operands=_SCALARS),
    # Since asserts run on the device, sampling no longer waits (trace: _assert_async and no other
    # read); the checks, the exponential draw and the argmax are operators of their own.
    "multinomial": Rule(launches=12),
    # Lengths stay on the host and batch sizes come back there (source: PackedSequence.cpp).
    "_pack_padded_sequence": Rule(host_operands=_ANY),
    "_pack_padded_sequence_backward": Rule(host_operands=_ANY),
    # A scalar tensor, of either side, is read or copied without waiting (source: Fill.cpp).
    "fill_": Rule(host_operands=_SCALARS),
    "fill": Rule(host_operands=_SCALARS),
    "where": Rule(host_operands=_SCALARS),
    # Scalars of these may be a host vector (source: ForeachOpsKernels.cpp).
    "_foreach_addcdiv": Rule(host_operands=_ANY),
    "_foreach_addcdiv_": Rule(host_operands=_ANY),
    "_foreach_addcmul": Rule(host_operands=_ANY),
    "_foreach_addcmul_": Rule(host_operands=_ANY),
}

NOT_ON_CUDA = frozenset(
    {
        "histogram",
        "_histogramdd_bin_edges",
        "_histogramdd_from_bin_cts",
        "_histogramdd_from_bin_tensors",
    }
)
"""Operators that a trainer may call and that have host kernels only (native_functions.yaml)."""

_UNCHECKED_FAMILIES = ("_foreach_", "_fused_", "linalg_", "_linalg_", "special_", "_fft_")
"""Families of kernels that take shapes from shapes; the exceptions are listed above (source)."""

_rules: dict[Any, Rule] = {}


def rule_for(overload: Any) -> Rule:
    """The rule of an operator overload; unknown ones count as one launch."""
    rule = _rules.get(overload)
    if rule is None:
        rule = _rules[overload] = _find(overload)
    return rule


def _find(overload: Any) -> Rule:
    namespace, name = overload._schema.name.split("::")
    if namespace not in {"aten", "prims"}:
        launches = declared_launches(overload._schema.name)
        return Rule(is_known=False) if launches is None else Rule(launches=launches)
    special = _SPECIAL.get(name)
    if special is not None:
        return special
    if is_view(overload) or name in SILENT:
        return Rule(launches=0, allocates=False, host_operands=_ANY)
    if name in ALLOCATING:
        return Rule(launches=0)
    # Out variants lack the tags of their siblings.
    packet = overload.overloadpacket
    tags = {tag for sibling in packet.overloads() for tag in getattr(packet, sibling).tags}
    # Pointwise operators, and only they, read 0-dim host tensors as scalars (TensorIterator).
    takes_scalars = torch.Tag.pointwise in tags or name.startswith(("_foreach_", "_fused_"))
    is_known = (
        torch.Tag.pointwise in tags
        or torch.Tag.reduction in tags
        or name.startswith(_UNCHECKED_FAMILIES)
        or name in LAUNCHING
        or f"{name.removesuffix('_')}" in LAUNCHING
        or name.endswith("_copy")
    )
    return Rule(
        flops=FLOPS.get(name),
        host_operands=_SCALARS if takes_scalars else HostOperands.NONE,
        is_known=is_known,
    )


def is_view(overload: Any) -> bool:
    """True if the result shares memory with an argument and nothing is written."""
    return any(
        result.alias_info is not None and not result.alias_info.is_write
        for result in overload._schema.returns
    )


def classify(
    overload: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, place: Placement
) -> list[Effect]:
    """Everything that a CUDA device would have done for this call, in order."""
    rule = rule_for(overload)
    call = Call(overload, args, kwargs, result, place)
    effects = list(_allocations(rule, call))
    if rule.effects is not None:
        effects.extend(rule.effects(call))
        return effects
    tensors = [
        item for item in _flat((args, tuple(kwargs.values()), result)) if place.is_device(item)
    ]
    nbytes = sum(tensor.nbytes for tensor in tensors)
    flops = rule.flops(*args, result=result) if rule.flops is not None else 0
    if nbytes:
        effects.extend(
            Effect(EventKind.LAUNCH, nbytes=nbytes, flops=flops) for _ in range(rule.launches)
        )
    if rule.waits is not None and rule.waits(call):
        effects.append(Effect(EventKind.IMPLICIT_SYNC, is_blocking=True))
    return effects


def _allocations(rule: Rule, call: Call) -> Iterator[Effect]:
    if not rule.allocates:
        return
    given = {id(item) for item in _flat((call.args, tuple(call.kwargs.values())))}
    for item in _flat(call.result):
        if id(item) not in given and call.place.is_device(item) and item.nbytes:
            yield Effect(EventKind.ALLOCATION, nbytes=item.nbytes)


def _flat(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _flat(item)
