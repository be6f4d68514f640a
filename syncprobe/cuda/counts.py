"""How many kernels an operator is, where it is not one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syncprobe.cuda.rule import Call, DeviceRule, HostOperands, Source, native

if TYPE_CHECKING:
    from collections.abc import Callable


def _reduced(plain: int) -> Callable[[Call], int]:
    """A loss is one kernel more if it is reduced."""
    return lambda call: plain + bool(call.named("reduction", default=1))


def _binary_cross_entropy_with_logits(call: Call) -> int:
    """In its parts: log-sigmoid, three for the loss, the weights, the reduction."""
    weights = 4 * (call.named("pos_weight") is not None) + (call.named("weight") is not None)
    return 4 + weights + bool(call.named("reduction", default=1))


def _clone_and_write(call: Call) -> int:
    return 1 + call.clones()


def _power_of_number(call: Call) -> int:
    """One to the power of anything is filled in; any other number is made a tensor first."""
    return 1 if call.args[0] == 1 else 2


_CLONES = native("TensorAdvancedIndexing.cpp", "out of place, the tensor is copied first")
_SCATTERS = native("TensorShape.cpp", "the tensor is cloned, then written to")
_LOSSES = native("Loss.cpp", "the loss of each element, then the reduction")


def _loss(name: str) -> tuple[str, DeviceRule]:
    return name, DeviceRule(count=_reduced(1), host_operands=HostOperands.SCALAR, source=_LOSSES)


RULES: dict[str, DeviceRule] = {
    "pow.Scalar": DeviceRule(
        count=_power_of_number,
        source=native("Pow.cpp", "a number that is the base becomes a tensor of the device"),
    ),
    "kaiser_window": DeviceRule(
        launches=2,
        source=native("TensorFactories.cpp", "a range, then the window of it"),
    ),
    "bucketize.Scalar": DeviceRule(
        launches=2,
        source=native("cuda/Bucketization.cu", "a number becomes a tensor of the device"),
    ),
    **dict(_loss(name) for name in ("mse_loss", "smooth_l1_loss", "huber_loss")),
    "binary_cross_entropy_with_logits": DeviceRule(
        count=_binary_cross_entropy_with_logits, source=_LOSSES
    ),
    "soft_margin_loss": DeviceRule(count=_reduced(4), source=_LOSSES),
    **{
        name: DeviceRule(count=_clone_and_write, source=_CLONES)
        for name in (
            "index_add",
            "index_copy",
            "index_reduce",
            "masked_scatter",
            "put",
            "scatter",
            "scatter_add",
            "scatter_reduce",
        )
    },
    **{
        name: DeviceRule(count=_clone_and_write, source=_SCATTERS)
        for name in (
            "as_strided_scatter",
            "diagonal_scatter",
            "select_scatter",
            "slice_scatter",
        )
    },
    "randperm": DeviceRule(
        launches=4,
        source=native(
            "cuda/Randperm.cu", "a range, keys, a sort of at least one kernel, duplicates"
        ),
    ),
    "_fused_rms_norm": DeviceRule(
        source=native("cuda/layer_norm_kernel.cu", "one kernel, forward", "2.8")
    ),
    "_fused_rms_norm_backward": DeviceRule(
        launches=2, source=native("cuda/layer_norm_kernel.cu", "the input, then the weight", "2.8")
    ),
    "_transformer_encoder_layer_fwd": DeviceRule(
        launches=13,
        source=native("transformers/transformer.cpp", "attention, two products, norms and sums"),
    ),
    "_native_multi_head_attention": DeviceRule(
        launches=7, source=native("transformers/cuda/attention.cu", "its parts are kernels")
    ),
    "silu_backward": DeviceRule(source=native("cuda/ActivationSiluKernel.cu", "one kernel")),
    "mish_backward": DeviceRule(source=native("cuda/ActivationMishKernel.cu", "one kernel")),
    "_cudnn_rnn": DeviceRule(
        source=Source(
            "aten/src/ATen/native/cudnn/RNN.cpp",
            "with dropout, a seed is read at the first call and after seeding",
        )
    ),
}
