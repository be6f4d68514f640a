"""Operators that make the host wait: for the shape of a result, an answer, or a checked argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from syncprobe.cuda.indexing import nonzero_launches
from syncprobe.cuda.rule import (
    WAIT,
    Call,
    DeviceRule,
    Effect,
    HostOperands,
    Source,
    always,
    launch,
    native,
    upload,
)
from syncprobe.cuda.versions import torch_is_at_least

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCALARS, _ANY = HostOperands.SCALARS, HostOperands.ANY
NORMAL_FREE_SINCE = "2.14"


def waits_for_gloo(call: Call) -> bool:
    """NCCL works on a stream; Gloo's threads wait for the device, and the host for them.

    Known from torch/csrc/distributed/c10d/ProcessGroupGlooCuda.cpp.
    """
    group = torch._C._distributed_c10d.ProcessGroup.unbox(call.named("process_group"))
    return bool(dist.get_backend(group) == "gloo")


def _equal(call: Call) -> Iterator[Effect]:
    """Different shapes, and two views of the same memory, are told without looking."""
    first, second = call.args[:2]
    if first.shape != second.shape or first.numel() == 0 or _is_same_memory(first, second):
        return
    yield launch(first.nbytes + second.nbytes)
    yield launch(first.numel())
    yield WAIT


def _is_same_memory(first: Any, second: Any) -> bool:
    return bool(
        first is second
        or (
            first.data_ptr() == second.data_ptr()
            and first.storage_offset() == second.storage_offset()
            and first.dtype == second.dtype
            and first.stride() == second.stride()
            and first.is_conj() == second.is_conj()
            and first.is_neg() == second.is_neg()
        )
    )


def _allclose_launches(call: Call) -> int:
    """``isclose`` in its parts, and ``all``."""
    given = call.args[0]
    is_float = given.is_floating_point() or given.is_complex()
    nan = 4 if is_float and call.named("equal_nan", default=False) else 0
    if call.named("rtol", default=1e-5) == 0 == call.named("atol", default=1e-8):
        return 2 + nan
    casts = 0 if is_float else 1 + (given.dtype == torch.bool)
    return 14 + nan + casts


def _nonzero_launches(call: Call) -> int:
    return nonzero_launches(call.args[0].dim())


def _nonzero_static_launches(call: Call) -> int:
    return 4 if call.args[0].dim() <= 1 else 5


def _masked_select_launches(call: Call) -> int:
    mask = call.argument(1, "mask")
    return nonzero_launches(max(call.args[0].dim(), mask.dim())) + 1


def _has_elements(call: Call) -> bool:
    return bool(call.args[0].numel())


def _repeat_interleave_waits(call: Call) -> bool:
    return call.kwargs.get("output_size") is None and bool(call.args[0].numel())


def _repeat_interleave_launches(call: Call) -> int:
    return 2 if call.kwargs.get("output_size") is not None else 4


def _one_hot_waits(call: Call) -> bool:
    return bool(call.argument(1, "num_classes", default=-1) == -1)


def _checks_deviations(call: Call) -> bool:
    deviation = call.argument(1, "std")
    return isinstance(deviation, torch.Tensor) and deviation.numel() > 0


def _normal_waits(call: Call) -> bool:
    return _checks_deviations(call) and not torch_is_at_least(NORMAL_FREE_SINCE)


def _normal_launches(call: Call) -> int:
    """The draw, then scaled and moved by tensors; each of two checks is two kernels."""
    mean, deviation = call.argument(0, "mean"), call.argument(1, "std")
    checks = 4 if _normal_waits(call) else 0
    if isinstance(deviation, torch.Tensor):
        return checks + 3 + (not isinstance(mean, torch.Tensor))
    return 2 if isinstance(mean, torch.Tensor) else 1


_MODE_FUSED_SLICE = 2048
"""Longest slice that the fused ``mode`` kernel takes."""


def _mode_waits(call: Call) -> bool:
    tensor, dimension = call.args[0], call.argument(1, "dim", default=-1)
    return tensor.dim() > 0 and int(tensor.shape[dimension]) > _MODE_FUSED_SLICE


def _histc_waits(call: Call) -> bool:
    low, high = call.argument(2, "min", default=0), call.argument(3, "max", default=0)
    return bool(low == high) and call.args[0].numel() > 0


def _isin_sorts(call: Call) -> bool:
    """Many test elements are sorted together with the elements."""
    elements, tested = call.args[:2]
    if not isinstance(tested, torch.Tensor):
        return False
    count = elements.numel() if isinstance(elements, torch.Tensor) else 1
    return count > 0 and tested.numel() >= int(10.0 * float(count) ** 0.145)


def _isin_waits(call: Call) -> bool:
    return _isin_sorts(call) and not call.kwargs.get("assume_unique", False)


def _isin_upload(call: Call) -> Iterator[Effect]:
    if _isin_sorts(call):
        yield upload(1)


def _isin_launches(call: Call) -> int:
    if not isinstance(call.args[1], torch.Tensor):
        return 1
    made = not isinstance(call.args[0], torch.Tensor)
    return made + (8 if _isin_sorts(call) else 4)


def _searchsorted_waits(call: Call) -> bool:
    return call.kwargs.get("sorter") is not None


def _segment_reduce_waits(call: Call) -> bool:
    return call.named("lengths") is not None and not call.named("unsafe", default=False)


def _ctc_uploads(call: Call) -> Iterator[Effect]:
    """The lengths of inputs and targets and the offsets of targets are made on the host."""
    batch = call.named("log_probs").shape[1]
    yield from (upload(8 * batch) for _ in range(3))


_NONZERO = native("cuda/Nonzero.cu", "the number found is copied to the host before it is stored")
_UNIQUE = native("cuda/UniqueCub.cu", "the number of distinct values is read")
_UNIQUE_DIM = native("cuda/Unique.cu", "the number of distinct rows comes back from thrust")

BACKWARD: dict[str, Source] = {
    "prod": Source("torch/csrc/autograd/FunctionsManual.cpp", "zeros are looked for, which waits"),
    "cumprod": native("ReduceOps.cpp", "whether there is a zero is read"),
    "masked_fill": Source(
        "torch/csrc/autograd/FunctionsManual.cpp",
        "the gradient of a value that is a tensor is selected by the mask, which waits",
    ),
    "masked_scatter": native(
        "TensorAdvancedIndexing.cpp", "the gradient of the source is selected by the mask"
    ),
    "trace": native("TriangularOps.cpp", "the gradient is read to fill the diagonal with it"),
    "ctc_loss": native("cuda/LossCTC.cu", "lengths and offsets are uploaded again"),
}
"""Operators whose backward formula makes the host wait."""

RULES: dict[str, DeviceRule] = {
    # Shapes that depend on data.
    "nonzero": DeviceRule(waits=always, count=_nonzero_launches, source=_NONZERO),
    "nonzero_static": DeviceRule(
        count=_nonzero_static_launches,
        source=native("cuda/Nonzero.cu", "the size is given, so nothing is read"),
    ),
    "masked_select": DeviceRule(
        waits=always,
        count=_masked_select_launches,
        source=native("cuda/IndexKernel.cpp", "indexes with the mask, which waits"),
    ),
    "masked_scatter_backward": DeviceRule(
        waits=always,
        launches=5,
        source=native("TensorAdvancedIndexing.cpp", "selects the gradient by the mask"),
    ),
    "_unique": DeviceRule(waits=always, source=_UNIQUE),
    "_unique2": DeviceRule(waits=always, source=_UNIQUE),
    "unique_dim": DeviceRule(waits=always, source=_UNIQUE_DIM),
    "unique_consecutive": DeviceRule(waits=always, source=_UNIQUE),
    "unique_dim_consecutive": DeviceRule(waits=always, source=_UNIQUE_DIM),
    "bincount": DeviceRule(
        waits=_has_elements,
        source=native("cuda/SummaryOps.cu", "the smallest and the largest value are read"),
    ),
    "repeat_interleave": DeviceRule(
        waits=_repeat_interleave_waits,
        count=_repeat_interleave_launches,
        source=native("Repeat.h", "the total is read unless it is given"),
    ),
    "one_hot": DeviceRule(
        waits=_one_hot_waits,
        launches=2,
        source=native("Onehot.cpp", "the number of classes is read unless it is given"),
    ),
    # Answers that Python gets.
    "equal": DeviceRule(
        effects=_equal,
        allocates=False,
        source=native("cuda/Equal.cpp", "shared memory is equal without looking", "2.1"),
    ),
    "allclose": DeviceRule(
        waits=always,
        count=_allclose_launches,
        source=native("TensorCompare.cpp", "the answer is read"),
    ),
    # Arguments checked on the host.
    "normal": DeviceRule(
        waits=_normal_waits,
        count=_normal_launches,
        source=native(
            "DistributionTemplates.h",
            "a tensor of deviations is checked to be positive; free from torch 2.14 on",
        ),
    ),
    "mode": DeviceRule(
        waits=_mode_waits,
        source=native(
            "cuda/TensorModeKernel.cu", "beyond 2,048 the result is copied from the host"
        ),
    ),
    "histc": DeviceRule(
        waits=_histc_waits,
        source=native("cuda/SummaryOps.cu", "without bounds the extremes are read"),
    ),
    "isin": DeviceRule(
        waits=_isin_waits,
        crossings=_isin_upload,
        count=_isin_launches,
        host_operands=_SCALARS,
        source=native(
            "TensorCompare.cpp",
            "many test elements are sorted, which uploads one value; unless they are said to be "
            "unique they are made so, which waits",
        ),
    ),
    "searchsorted.Scalar": DeviceRule(
        waits=_searchsorted_waits,
        launches=2,
        source=native("cuda/Bucketization.cu", "a number becomes a tensor of the device"),
    ),
    "searchsorted": DeviceRule(
        waits=_searchsorted_waits,
        source=native("BucketizationUtils.h", "a sorter is checked to be in range"),
    ),
    "segment_reduce": DeviceRule(
        waits=_segment_reduce_waits,
        source=native("SegmentReduce.cpp", "lengths are checked, offsets are not"),
    ),
    "embedding_renorm_": DeviceRule(
        launches=3,
        source=native("cuda/Embedding.cu", "rows are made unique on the device", "1.11"),
    ),
    "_ctc_loss": DeviceRule(
        waits=always,
        host_operands=_ANY,
        source=native("cuda/LossCTC.cu", "lengths and offsets are made on the host"),
    ),
    "_ctc_loss_backward": DeviceRule(
        crossings=_ctc_uploads,
        launches=3,
        host_operands=_ANY,
        source=native("cuda/LossCTC.cu", "lengths and offsets are made on the host again"),
    ),
    "_nested_tensor_from_mask": DeviceRule(
        waits=always,
        launches=3,
        source=native("nested/NestedTensorMath.cpp", "the sizes of the rows go to the host"),
    ),
    "_nested_tensor_from_mask_left_aligned": DeviceRule(
        waits=always,
        launches=3,
        allocates=False,
        source=native("nested/NestedTensorMath.cpp", "the answer is read"),
    ),
    # Lengths stay on the host and batch sizes come back there.
    "_pack_padded_sequence": DeviceRule(
        host_operands=_ANY,
        source=native("PackedSequence.cpp", "lengths on the device are an error"),
    ),
    "_pack_padded_sequence_backward": DeviceRule(
        host_operands=_ANY, source=native("PackedSequence.cpp")
    ),
    "_assert_async": DeviceRule(
        allocates=False,
        source=Source("aten/src/ATen/native/cuda/TensorCompare.cu", "the device asserts", "1.11"),
    ),
}
