"""Autocast for the simulated device: CUDA's lists of operators, applied by kernels of our own.

torch's autocast kernels cast only tensors that C++ knows as CUDA's. Ours sit on a key that no
backend uses here, switched on together with CUDA's by the public autocast functions.
"""

# ruff: noqa: ARG001  # signatures are torch's
# mypy: disable-error-code="no-untyped-call"
# The functions of torch that are called here carry no types.

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from syncprobe.simgpu.session import active
from syncprobe.simgpu.tensors.tensor import AUTOCAST_KEYS
from syncprobe.simgpu.torch_api.patching import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOTE = (
    "Autocast casts what CUDA's autocast casts. The CPU's has other lists, so values differ from those "
    "of a plain CPU run under autocast."
)

KEY = "AutocastPrivateUse1"
_STAND_IN = "privateuseone"

# The lists are those of ATen/autocast_mode.h.
_LOWER = """
    _convolution conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d.input
    conv_transpose3d.input convolution prelu addmm addmv addr matmul einsum mm mv linalg_vecdot
    linear addbmm baddbmm bmm chain_matmul linalg_multi_dot lstm_cell gru_cell rnn_tanh_cell
    rnn_relu_cell scaled_dot_product_attention lstm.input gru.input rnn_tanh.input rnn_relu.input
"""

_FLOAT = """
    acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan
    pow.Tensor_Scalar pow.Tensor_Tensor pow.Scalar softplus layer_norm native_layer_norm rms_norm
    group_norm frobenius_norm.dim nuclear_norm nuclear_norm.dim cosine_similarity poisson_nll_loss
    cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss kl_div l1_loss smooth_l1_loss
    huber_loss mse_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss
    triplet_margin_loss multi_margin_loss binary_cross_entropy_with_logits dist pdist cdist renorm
    logsumexp norm.Scalar norm.ScalarOpt_dim
"""

_FLOAT_RESULT = """
    prod prod.dim_int softmax.int log_softmax.int cumprod cumsum linalg_vector_norm
    linalg_matrix_norm linalg_matrix_norm.str_ord sum sum.dim_IntList
"""

_WIDEST = """
    addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put tensordot scatter_add cat
    stack
"""

_cache: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}


def _overload(name: str) -> Any:
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), overload or "default")


def _is_eligible(value: Any) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and value.is_cuda
        and value.is_floating_point()
        and value.dtype is not torch.float64
    )


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, (list, tuple)):
        return [_cast(item, dtype) for item in value]
    if not _is_eligible(value) or value.dtype is dtype:
        return value
    is_weight = (
        dtype is torch.get_autocast_dtype("cuda")
        and value.dtype is torch.float32
        and value.requires_grad
        and value.is_leaf
        and torch.is_autocast_cache_enabled()
    )
    if not is_weight:
        return value.to(dtype)
    # As in torch: a weight is cast once until the outermost autocast is left.
    cached = _cache.get(id(value))
    if cached is None:
        cached = _cache[id(value)] = (value, value.to(dtype))
    return cached[1]


def _kernel(overload: Any, prepare: Callable[[Any, Any], tuple[Any, Any]]) -> Any:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(AUTOCAST_KEYS):
            args, kwargs = prepare(args, kwargs)
            return overload(*args, **kwargs)

    return kernel


def _to(dtype: Callable[[], torch.dtype]) -> Callable[[Any, Any], tuple[Any, Any]]:
    def prepare(args: Any, kwargs: Any) -> tuple[Any, Any]:
        wanted = dtype()
        return (
            [_cast(value, wanted) for value in args],
            {name: _cast(value, wanted) for name, value in kwargs.items()},
        )

    return prepare


def _float_result(overload: Any) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Ask for a result in single precision, unless the program asks for a type itself."""
    position = [argument.name for argument in overload._schema.arguments].index("dtype")

    def prepare(args: Any, kwargs: Any) -> tuple[Any, Any]:
        asked = args[position] if len(args) > position else kwargs.get("dtype")
        if asked is not None or not _is_eligible(args[0]) or args[0].dtype is torch.float32:
            return args, kwargs
        return args[:position], {**kwargs, "dtype": torch.float32}

    return prepare


def _widest(args: Any, kwargs: Any) -> tuple[Any, Any]:
    flat = [v for item in args for v in (item if isinstance(item, (list, tuple)) else (item,))]
    floats = {value.dtype for value in flat if _is_eligible(value)}
    if len(floats) > 1:
        return _to(lambda: torch.float32)(args, kwargs)
    return args, kwargs


def _refuse(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError(
        "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast. "
        "Use binary_cross_entropy_with_logits or BCEWithLogitsLoss."
    )


def _set_enabled(original: Any) -> Any:
    def set_autocast_enabled(*args: Any) -> None:
        original(*args)
        if args[-1] and active.session is not None:
            active.session.sink.note(NOTE)
        if args[0] == "cuda" or len(args) == 1:
            original(_STAND_IN, args[-1])

    return set_autocast_enabled


def _clear_cache(original: Any) -> Any:
    def clear_autocast_cache() -> None:
        _cache.clear()
        original()

    return clear_autocast_cache


@contextmanager
def installed() -> Iterator[None]:
    """Make ``torch.autocast("cuda")`` work on device tensors."""
    kernels = torch.library.Library("aten", "IMPL")
    fallback = torch.library.Library("_", "IMPL")
    lower = _to(lambda: torch.get_autocast_dtype("cuda"))
    single = _to(lambda: torch.float32)
    rows: tuple[tuple[str, Callable[[Any], Any]], ...] = (
        (_LOWER, lambda _: lower),
        (_FLOAT, lambda _: single),
        (_FLOAT_RESULT, _float_result),
        (_WIDEST, lambda _: _widest),
    )
    try:
        fallback.fallback(torch.library.fallthrough_kernel, KEY)
        for names, preparing in rows:
            for overload in map(_overload, names.split()):
                kernels.impl(overload, _kernel(overload, preparing(overload)), KEY)
        kernels.impl(torch.ops.aten.binary_cross_entropy.default, _refuse, KEY)
        replacements = {
            "set_autocast_enabled": _set_enabled(torch.set_autocast_enabled),
            "clear_autocast_cache": _clear_cache(torch.clear_autocast_cache),
        }
        with replaced(torch, replacements):
            yield
    finally:
        _cache.clear()
        torch.set_autocast_enabled(_STAND_IN, False)
        kernels._destroy()
        fallback._destroy()
