"""Single values that cross between the sides inside an operator."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from syncprobe.cuda.rule import (
    Call,
    DeviceRule,
    Effect,
    Effects,
    HostOperands,
    launch,
    native,
    read,
    upload,
)
from syncprobe.cuda.versions import torch_is_at_least
from syncprobe.events import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterator

_ANY, _SCALARS = HostOperands.ANY, HostOperands.SCALARS


def _local_scalar_dense(call: Call) -> Iterator[Effect]:
    yield read(call.args[0].itemsize)


def _reads_of(*names: str) -> Effects:
    """Operators that take ``item()`` of these arguments, where they are on the device."""

    def effects(call: Call) -> Iterator[Effect]:
        for name in names:
            value = call.named(name)
            if call.place.is_device(value):
                yield read(value.itemsize)

    return effects


def _range(call: Call) -> Iterator[Effect]:
    yield from _reads_of("start", "end")(call)
    if call.place.is_device(call.result) and call.result.nbytes:
        yield launch(call.result.nbytes)


def _fill(call: Call) -> Iterator[Effect]:
    """A value of the other side is read; one of the same side is copied by a kernel."""
    target, value = call.args[:2]
    if call.is_host(target):
        if call.place.is_device(value):
            yield read(value.itemsize)
        return
    if target.numel():
        yield launch(target.nbytes)


def _uploads_of_operands(call: Call) -> Iterator[Effect]:
    """``where`` moves each host operand without dimensions on its own."""
    for operand in call.args[:3]:
        if call.is_host(operand) and operand.dim() == 0:
            yield upload(operand.nbytes)


def _upload_of_probabilities(call: Call) -> Iterator[Effect]:
    probabilities = call.argument(1, "p")
    if call.is_host(probabilities):
        yield upload(probabilities.numel() * (8 if call.args[0].itemsize == 8 else 4))


def _upload_of_counts(call: Call) -> Iterator[Effect]:
    yield upload(8 * int(call.args[1].shape[0]))


def _upload_of_lengths(call: Call) -> Iterator[Effect]:
    yield upload(4 * int(call.result.shape[0]) * int(call.result.dim() - 1))


def _upload_of_empty_median(call: Call) -> Iterator[Effect]:
    if call.overload._schema.overload_name == "" and call.args[0].numel() == 0:
        yield upload(call.args[0].itemsize)


def _uploads_of_single_steps(call: Call) -> Iterator[Effect]:
    """The coordinate of a dimension of one pixel is made on the host."""
    yield from (upload(call.args[0].itemsize) for size in call.args[1][2:] if size <= 1)


def _two_reads(call: Call) -> Iterator[Effect]:
    if call.args[0].numel():
        yield from (read(4), read(4))


def _two_reads_of_integers(call: Call) -> Iterator[Effect]:
    """Zero points that are integers are checked to be in range."""
    zero_point = call.named("zero_point")
    if not zero_point.dtype.is_floating_point:
        yield from (read(zero_point.itemsize), read(zero_point.itemsize))


def _observer_reads(call: Call) -> Iterator[Effect]:
    """Per row, the switch is read, and then the zero points are checked."""
    if call.named("per_row_fake_quant", default=False):
        switch = call.named("fake_quant_on")
        yield read(switch.itemsize)
        yield from (read(4), read(4))


def _is_grouped_kernel(call: Call) -> bool:
    """Hopper and later have one kernel for all groups of bfloat16 matrices."""
    is_brain = call.args[0].dtype == call.args[1].dtype == torch.bfloat16
    return is_brain and torch.cuda.get_device_capability() >= (9, 0)


def _offsets_to_host(call: Call) -> Iterator[Effect]:
    offsets = call.named("offs")
    if call.place.is_device(offsets) and not _is_grouped_kernel(call):
        yield Effect(EventKind.COPY_TO_HOST, is_blocking=True, nbytes=offsets.nbytes)


def _groups(call: Call) -> int:
    offsets = call.named("offs")
    return 1 if offsets is None or _is_grouped_kernel(call) else max(1, math.prod(offsets.shape))


def _multinomial_reads(call: Call) -> Iterator[Effect]:
    """Two checks were read before asserts ran on the device."""
    is_replacing = bool(call.named("replacement", default=False))
    if not torch_is_at_least("2.5") and not is_replacing:
        yield from (read(1), read(1))


def _nanmedian_read(call: Call) -> Iterator[Effect]:
    yield from _upload_of_empty_median(call)
    if call.overload._schema.overload_name == "" and not torch_is_at_least("2.5"):
        yield read(8)


def _fill_of_a_clone(call: Call) -> int:
    return 1 + call.clones()


_FAKE_QUANT = native(
    "quantized/FakeQuantPerTensorAffine.cpp", "scale and zero point are read with `item()`"
)
_FAKE_QUANT_CHANNEL = native(
    "quantized/FakeQuantPerChannelAffine.cpp",
    "the smallest and the largest zero point are read; forward only if they are integers",
)
_QUANTIZE = native(
    "quantized/QTensor.cpp", "a scale and a zero point that are tensors are read with `item()`"
)
_MASKED_FILL = native("cuda/Indexing.cu", "a value on the device is read with `item()`")
_INDEX_FILL = native("TensorAdvancedIndexing.cpp", "a value on the device is read with `item()`")
_LINSPACE = native("RangeFactories.cpp", "bounds that are tensors are read with `item()`")

RULES: dict[str, DeviceRule] = {
    "_local_scalar_dense": DeviceRule(
        effects=_local_scalar_dense,
        allocates=False,
        source=native("cuda/CUDAScalar.cu", "one value is copied to the host, which waits for it"),
    ),
    # Out of place they clone first.
    "masked_fill": DeviceRule(
        launches=2, crossings=_reads_of("value"), host_operands=_SCALARS, source=_MASKED_FILL
    ),
    "masked_fill_": DeviceRule(
        crossings=_reads_of("value"), host_operands=_SCALARS, source=_MASKED_FILL
    ),
    "index_fill": DeviceRule(
        count=_fill_of_a_clone,
        crossings=_reads_of("value"),
        host_operands=_SCALARS,
        source=_INDEX_FILL,
    ),
    "index_fill_": DeviceRule(
        crossings=_reads_of("value"), host_operands=_SCALARS, source=_INDEX_FILL
    ),
    "fill_": DeviceRule(
        effects=_fill,
        host_operands=_ANY,
        source=native("Fill.cpp", "a value of the other side is read with `item()`"),
    ),
    "fill": DeviceRule(host_operands=_SCALARS, source=native("Fill.cpp")),
    "where": DeviceRule(
        crossings=_uploads_of_operands,
        host_operands=_SCALARS,
        source=native(
            "TensorCompare.cpp", "each host operand without dimensions is moved with `.to(device)`"
        ),
    ),
    "bernoulli_": DeviceRule(
        crossings=_upload_of_probabilities,
        host_operands=_ANY,
        source=native(
            "cuda/DistributionTemplates.h", "probabilities on the host are moved with `.to(device)`"
        ),
    ),
    "bernoulli": DeviceRule(
        crossings=_upload_of_probabilities,
        host_operands=_ANY,
        source=native("cuda/DistributionTemplates.h"),
    ),
    "batch_norm_gather_stats": DeviceRule(
        crossings=_upload_of_counts,
        launches=3,
        source=native(
            "cuda/Normalization.cu",
            "the counts are built on the host and moved; with counts given nothing is",
        ),
    ),
    "to_padded_tensor": DeviceRule(
        crossings=_upload_of_lengths,
        source=native(
            "nested/cuda/NestedTensorTransformerFunctions.cpp",
            "the lengths of the rows are moved with `.to(device)`",
        ),
    ),
    "median": DeviceRule(
        crossings=_upload_of_empty_median,
        source=native("cuda/Sorting.cpp", "the answer for no elements is made on the host"),
    ),
    "nanmedian": DeviceRule(
        crossings=_nanmedian_read,
        source=native("cuda/Sorting.cpp", "does not wait; before, its position was read", "2.5"),
    ),
    "affine_grid_generator": DeviceRule(
        crossings=_uploads_of_single_steps,
        source=native(
            "AffineGridGenerator.cpp", "the coordinate of a size of one is made on the host"
        ),
    ),
    # The checks, the exponential draw and the argmax are kernels of their own.
    "multinomial": DeviceRule(
        launches=12,
        crossings=_multinomial_reads,
        source=native(
            "Distributions.cpp", "asserts run on the device; before, two were read", "2.5"
        ),
    ),
    "linspace": DeviceRule(effects=_range, host_operands=_SCALARS, source=_LINSPACE),
    "logspace": DeviceRule(effects=_range, host_operands=_SCALARS, source=_LINSPACE),
    "randint_like": DeviceRule(
        host_operands=_SCALARS,
        source=native("TensorFactories.cpp", "a bound that is a tensor belongs on the host"),
    ),
    "_fake_quantize_learnable_per_tensor_affine": DeviceRule(
        crossings=_two_reads, source=_FAKE_QUANT
    ),
    "_fake_quantize_learnable_per_tensor_affine_backward": DeviceRule(
        launches=3, crossings=_two_reads, source=_FAKE_QUANT
    ),
    "_fake_quantize_learnable_per_channel_affine": DeviceRule(
        launches=3, crossings=_two_reads, source=_FAKE_QUANT_CHANNEL
    ),
    "_fake_quantize_learnable_per_channel_affine_backward": DeviceRule(
        launches=5, crossings=_two_reads, source=_FAKE_QUANT_CHANNEL
    ),
    "fake_quantize_per_channel_affine_cachemask": DeviceRule(
        launches=3, crossings=_two_reads_of_integers, source=_FAKE_QUANT_CHANNEL
    ),
    "_fused_moving_avg_obs_fq_helper": DeviceRule(
        launches=4,
        crossings=_observer_reads,
        source=native(
            "quantized/cuda/FusedObsFakeQuant.cu", "per row, the switch is read with `item()`"
        ),
    ),
    "quantize_per_tensor": DeviceRule(source=_QUANTIZE),
    "quantize_per_tensor.tensor_qparams": DeviceRule(crossings=_two_reads, source=_QUANTIZE),
    "quantize_per_tensor_dynamic": DeviceRule(
        launches=3,
        crossings=_two_reads,
        source=native("quantized/QTensor.cpp", "the smallest and the largest value are read"),
    ),
    "quantize_per_channel": DeviceRule(
        launches=5,
        crossings=_two_reads,
        source=native(
            "quantized/cuda/AffineQuantizer.cu", "whether zero points are in range is read, twice"
        ),
    ),
    "_grouped_mm": DeviceRule(
        crossings=_offsets_to_host,
        count=_groups,
        source=native(
            "GroupedMMUtils.h", "below capability 9.0 the offsets are copied to the host"
        ),
    ),
}
