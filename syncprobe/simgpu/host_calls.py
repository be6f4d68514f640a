"""How an operator is called on the host: the quickest way to its kernel, or in a type that has one."""

from __future__ import annotations

from typing import Any

import torch

FUNCTIONS = frozenset(
    """
    abs _foreach_sqrt add.Tensor addmm baddbmm bmm cat cos detach div.Tensor embedding eq.Scalar eq.Tensor exp
    gather ge.Scalar ge.Tensor gt.Scalar gt.Tensor le.Scalar le.Tensor log lt.Scalar lt.Tensor
    maximum mean.dim minimum mm mul.Tensor native_layer_norm ne.Scalar ne.Tensor neg permute
    pow.Tensor_Scalar relu rsqrt select.int sigmoid sin sqrt squeeze.dim sub.Tensor
    sum.dim_IntList t tanh transpose.int unsqueeze
    """.split()  # noqa: SIM905  # a list would be a column of fifty lines
)
METHODS = frozenset("add_.Tensor div_.Tensor expand mul_.Tensor sub_.Tensor view zero_".split())  # noqa: SIM905  # likewise
"""Operators that programs call most, and that have a function or a method which takes the arguments of the operator
in the same places: the generated code behind those is 0.3 to 1.8 us quicker than a call by schema."""


def host_call(overload: Any) -> Any:
    """The operator on the host, also for types that only CUDA has kernels for."""
    name = overload._schema.name.removeprefix("aten::")
    if _is_wider_product(overload):
        return _wider_product(overload)
    if overload in NORMALIZING:
        return NORMALIZING[overload]
    if name in _OF_MORE_TYPES:
        return _widening(overload)
    if overload.namespace != "aten":
        return overload._op
    full_name = f"{name}.{overload._schema.overload_name}".removesuffix(".")
    if full_name in FUNCTIONS:
        return getattr(torch._C._VariableFunctions, name)
    return getattr(torch._C.TensorBase, name) if full_name in METHODS else overload._op


_OF_MORE_TYPES = frozenset(
    {
        "_upsample_bilinear2d_aa",
        "_upsample_bilinear2d_aa_backward",
        "avg_pool3d",
        "avg_pool3d_backward",
        "histc",
        "multi_margin_loss",
        "multi_margin_loss_backward",
        "multilabel_margin_loss_backward",
        "multilabel_margin_loss_forward",
        "round",
        "rrelu_with_noise",
    }
)
"""Operators that CUDA has for integers or half precision and the host has not (torch's operator
database: the types of CUDA without those of the CPU)."""

_WIDER = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    **dict.fromkeys(
        (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64), torch.float64
    ),
}


def _widening(overload: Any) -> Any:
    """Compute in a wider type what the host has no kernel for, and round the results."""
    plain = overload._op

    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return plain(*args, **kwargs)
        except NotImplementedError:
            narrow = next(value.dtype for value in args if isinstance(value, torch.Tensor))
            if narrow not in _WIDER or kwargs:
                raise
        wide = _WIDER[narrow]

        def converted(value: Any, known: torch.dtype, wanted: torch.dtype) -> Any:
            is_concerned = isinstance(value, torch.Tensor) and value.dtype == known
            return value.to(wanted) if is_concerned else value

        found = plain(*(converted(value, narrow, wide) for value in args))
        if isinstance(found, torch.Tensor):
            return converted(found, wide, narrow)
        return tuple(converted(value, wide, narrow) for value in found)

    return run


def _is_wider_product(overload: Any) -> bool:
    """True for products of half precision with a single precision result: only CUDA has them."""
    return overload._overloadname in {"dtype", "dtype_out"} and overload._schema.name in {
        f"aten::{name}" for name in ("mm", "bmm", "addmm", "baddbmm")
    }


def _wider_product(overload: Any) -> Any:
    packet = overload.overloadpacket
    matrices = 3 if "add" in overload._schema.name else 2

    def run(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        widened = [matrix.to(args[matrices]) for matrix in args[:matrices]]
        result = packet(*widened, **kwargs)
        return result if out is None else out.copy_(result)

    return run


def _normalizing(function: Any) -> Any:
    """Half precision may become single precision in the same kernel on CUDA."""

    def run(values: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
        result: torch.Tensor = function(values.float() if half_to_float else values, dim, False)
        return result

    return run


def _normalizing_backward(function: Any) -> Any:
    """And the gradient half precision again."""

    def run(grad: torch.Tensor, output: torch.Tensor, dim: int, dtype: torch.dtype) -> torch.Tensor:
        result: torch.Tensor = function(grad, output, dim, grad.dtype)
        return result if dtype is grad.dtype else result.to(dtype)

    return run


NORMALIZING = {
    torch.ops.aten._softmax.default: _normalizing(torch._softmax),
    torch.ops.aten._log_softmax.default: _normalizing(torch._log_softmax),
    torch.ops.aten._softmax_backward_data.default: _normalizing_backward(
        torch._softmax_backward_data
    ),
    torch.ops.aten._log_softmax_backward_data.default: _normalizing_backward(
        torch._log_softmax_backward_data
    ),
}
"""Operators that change the type on CUDA alone."""
