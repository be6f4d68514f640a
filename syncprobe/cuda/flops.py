"""Floating-point operations of the operators that have many: torch's own count where it has one."""

# ruff: noqa: ARG001  # signatures are torch's

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.flop_counter import flop_registry

if TYPE_CHECKING:
    from collections.abc import Callable

_aten = torch.ops.aten
# Registered formulas first look for tensors all through their arguments, at many times the price of
# the count. What they wrap takes shapes.
_product: Callable[..., int] = inspect.unwrap(flop_registry[_aten.mm])
_batched_product: Callable[..., int] = inspect.unwrap(flop_registry[_aten.bmm])
_sliding_product: Callable[..., int] = inspect.unwrap(flop_registry[_aten.convolution])


def _mm(first: Any, second: Any, *_: Any, result: Any) -> int:
    return _product(first.shape, second.shape)


def _addmm(_: Any, first: Any, second: Any, *__: Any, result: Any) -> int:
    return _product(first.shape, second.shape)


def _bmm(first: Any, second: Any, *_: Any, result: Any) -> int:
    return _batched_product(first.shape, second.shape)


def _baddbmm(_: Any, first: Any, second: Any, *__: Any, result: Any) -> int:
    return _batched_product(first.shape, second.shape)


def _convolution(given: Any, weight: Any, *rest: Any, result: Any) -> int:
    # bias, stride, padding, dilation, transposed
    return _sliding_product(given.shape, weight.shape, *rest[:5], out_shape=result.shape)


def _convolution_backward(gradient: Any, given: Any, weight: Any, *rest: Any, result: Any) -> int:
    # One pass for the input and one for the weight, each as long as the forward pass, if it is asked
    # for: the host may compute a gradient that is not. Torch counts the same, but for the weight of a
    # convolution in groups, where it counts every group for all.
    _, _, _, _, is_transposed, _, _, asked_for = rest
    positions: int = math.prod((given if is_transposed else gradient).shape[2:]) * given.shape[0]
    passes: int = sum(asked_for[:2])
    return 2 * positions * int(weight.numel()) * passes


def _linear(given: Any, weight: Any, *_: Any, result: Any) -> int:
    return 2 * int(given.numel()) * int(weight.shape[0])


def _mv(matrix: Any, *_: Any, result: Any) -> int:
    return 2 * int(matrix.numel())


def _addmv(_: Any, matrix: Any, *__: Any, result: Any) -> int:
    return 2 * int(matrix.numel())


def _attention(query: Any, key: Any, value: Any, *_: Any, result: Any) -> int:
    # Torch counts the kernels that this falls apart into, and those take four dimensions only.
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
