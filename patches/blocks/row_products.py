"""A linear layer for several groups of rows at once, each multiplied as if it were alone.

Removes:  a launch per group and layer, where a program asks its network for one robot or sample after the other
Keeps:    on the host, every bit: the sums of a product are split by the number of its rows, so the rows of a
          plain product over all groups differ in their last bits from products made group by group

A device has one kernel for all rows and rounds as it likes. What runs where is decided by the dispatcher, so
that a simulated device, which computes on the host, gives the host's bits and is charged for one launch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn.functional import linear

import syncprobe

MOST_GROUPS: Final = 16
"""More than these are multiplied at once, unless somebody needs the bits: it is faster, and moves the last ones."""
TRIED: Final = 10_000
"""Numbers that have to be equal before a way is trusted: some differ in one of 400 only."""
MOST_TRIES: Final = 200
"""Products that are made for it at most, when each has few numbers."""

Way = Callable[[Tensor, Tensor, Tensor], Tensor]


def _as_matrices(inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return torch.baddbmm(bias, inputs, weight.t().expand(len(inputs), -1, -1))


def _as_pixels(inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A convolution over one pixel for a single row: torch loops over the groups itself."""
    count, _, width = inputs.shape
    outputs = len(bias)
    convolved: Tensor = torch.ops.aten._slow_conv2d_forward(  # noqa: SLF001  # the loop has no public name
        inputs.view(count, width, 1, 1),
        weight.view(outputs, width, 1, 1),
        (1, 1),
        bias,
        (1, 1),
        (0, 0),
    )
    return convolved.view(count, 1, outputs)


def _one_by_one(inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    # In memory of its own, as it would be alone: where a row begins can decide how its sum is split.
    return torch.stack([linear(each.clone(), weight, bias) for each in inputs])


WAYS: Final[tuple[Way, ...]] = (linear, _as_matrices, _one_by_one)
"""All compute the same sums, quickest first; only the last one rounds as if alone on any machine."""
WAYS_OF_ONE_ROW: Final[tuple[Way, ...]] = (linear, _as_matrices, _as_pixels, _one_by_one)

_chosen: dict[tuple[int, ...], Way] = {}


def _on_host(inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    shape = (*inputs.shape, weight.shape[0], torch.get_num_threads())
    way = _chosen.get(shape)
    if way is None:
        ways = WAYS_OF_ONE_ROW if inputs.shape[1] == 1 else WAYS
        way = _chosen[shape] = next(way for way in ways if _keeps_bits(way, shape[:-1]))
    return way(inputs, weight, bias)


def _keeps_bits(way: Way, shape: tuple[int, ...]) -> bool:
    """Whether a way rounds as products made one by one: how sums are split depends on shapes and threads."""
    *inputs_shape, outputs = shape
    numbers = inputs_shape[0] * inputs_shape[1] * outputs
    # Whatever the program has made torch's defaults: it is the host's single precision that is tried.
    options: dict[str, Any] = {
        "generator": torch.Generator().manual_seed(0),
        "device": "cpu",
        "dtype": torch.float32,
    }
    for _ in range(min(1 + TRIED // numbers, MOST_TRIES)):
        inputs = torch.randn(inputs_shape, **options)
        weight = torch.randn((outputs, inputs_shape[-1]), **options)
        bias = torch.randn(outputs, **options)
        if not torch.equal(way(inputs, weight, bias), _one_by_one(inputs, weight, bias)):
            return False
    return True


_library: Any = torch.library.Library("patches", "DEF")  # type: ignore[no-untyped-call]  # torch's own
_library.define("linear_by_group(Tensor inputs, Tensor weight, Tensor bias) -> Tensor")
_library.impl("linear_by_group", _on_host, "CPU")
_library.impl("linear_by_group", linear, "CUDA")
_library.impl("linear_by_group", linear, "Meta")
syncprobe.declare_operator("patches::linear_by_group", launches=1)
_linear_by_group: Way = torch.ops.patches.linear_by_group.default


def product(inputs: Tensor, weight: Tensor, bias: Tensor, most_groups: int = MOST_GROUPS) -> Tensor:
    """A linear layer; ``[N, R, K]`` are R rows for each of N groups, ``[B, K]`` is one batch.

    Args:
        inputs: Of any of the two shapes.
        weight: Of the layer.
        bias: Of the layer.
        most_groups: More than these are multiplied at once.
    """
    if inputs.dim() == 2 or inputs.shape[0] > most_groups:
        return linear(inputs, weight, bias)
    # On the host the detour through the dispatcher would cost as much as the product.
    multiply = _on_host if inputs.is_cpu else _linear_by_group
    return multiply(inputs, weight, bias)
