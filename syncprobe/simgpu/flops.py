"""Floating-point operations of the operators that have many: products and convolutions."""

# ruff: noqa: ARG001  # signatures are torch's

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def _mm(first: Any, second: Any, *_: Any, result: Any) -> int:
    return 2 * int(first.numel()) * int(second.size(1))


def _addmm(_: Any, first: Any, second: Any, *__: Any, result: Any) -> int:
    return _mm(first, second, result=result)


def _bmm(first: Any, second: Any, *_: Any, result: Any) -> int:
    return 2 * int(first.numel()) * int(second.size(2))


def _baddbmm(_: Any, first: Any, second: Any, *__: Any, result: Any) -> int:
    return _bmm(first, second, result=result)


def _linear(given: Any, weight: Any, *_: Any, result: Any) -> int:
    return 2 * int(given.numel()) * int(weight.shape[0])


def _mv(matrix: Any, *_: Any, result: Any) -> int:
    return 2 * int(matrix.numel())


def _addmv(_: Any, matrix: Any, *__: Any, result: Any) -> int:
    return 2 * int(matrix.numel())


def _convolution(given: Any, weight: Any, *rest: Any, result: Any) -> int:
    # bias, stride, padding, dilation, transposed: a transposed one slides over its input.
    is_transposed = len(rest) > 4 and bool(rest[4])
    positions: int = math.prod((given if is_transposed else result).shape[2:]) * given.shape[0]
    return 2 * positions * int(weight.numel())


def _convolution_backward(gradient: Any, given: Any, weight: Any, *rest: Any, result: Any) -> int:
    # One pass for the input and one for the weight, each as long as the forward pass.
    is_transposed = len(rest) > 4 and bool(rest[4])
    positions: int = math.prod((given if is_transposed else gradient).shape[2:]) * given.shape[0]
    passes = sum(item is not None for item in result[:2])
    return 2 * positions * int(weight.numel()) * passes


def _attention(query: Any, key: Any, value: Any, *_: Any, result: Any) -> int:
    rows: int = math.prod(query.shape[:-1])
    return 2 * rows * int(key.shape[-2]) * (int(query.shape[-1]) + int(value.shape[-1]))


FLOPS: dict[str, Callable[..., int]] = {
    "mm": _mm,
    "addmm": _addmm,
    "addmm_": _addmm,
    "_addmm_activation": _addmm,
    "bmm": _bmm,
    "baddbmm": _baddbmm,
    "baddbmm_": _baddbmm,
    "linear": _linear,
    "mv": _mv,
    "addmv": _addmv,
    "dot": _mv,
    "vdot": _mv,
    "convolution": _convolution,
    "convolution_backward": _convolution_backward,
    "scaled_dot_product_attention": _attention,
}
