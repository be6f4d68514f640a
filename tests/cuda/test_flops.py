"""Counts of floating-point operations are torch's, wherever torch has one."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode, flop_registry

from syncprobe.cuda.flops import FLOPS

aten = torch.ops.aten


def ones(*shape):
    return torch.ones(shape)


PRODUCTS = {
    "mm": (ones(3, 4), ones(4, 5)),
    "addmm": (ones(5), ones(3, 4), ones(4, 5)),
    "bmm": (ones(2, 3, 4), ones(2, 4, 5)),
    "baddbmm": (ones(2, 3, 5), ones(2, 3, 4), ones(2, 4, 5)),
}


def convolution(shape, weight, transposed=False, groups=1):
    is_long = len(shape) == 4
    ones_, zeros = [1] * (1 + is_long), [0] * (1 + is_long)
    return (ones(*shape), ones(*weight), None, ones_, zeros, ones_, transposed, zeros, groups)


CONVOLUTIONS = {
    "plain": convolution((2, 3, 8, 9), (4, 3, 3, 2)),
    "one dimension": convolution((2, 3, 8), (4, 3, 3)),
    "transposed": convolution((2, 3, 8, 9), (3, 4, 3, 2), transposed=True),
    "in groups": convolution((2, 6, 8, 9), (4, 3, 3, 2), groups=2),
}


def by_torch(operator, arguments, result):
    return flop_registry[operator](*arguments, out_val=result)


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_counted_as_torch_does(name):
    arguments = PRODUCTS[name]
    with FlopCounterMode(display=False) as counter:
        result = getattr(aten, name)(*arguments)
    assert FLOPS[name](*arguments, result=result) == counter.get_total_flops() > 0


@pytest.mark.parametrize("name", ["mm", "bmm"])
def test_an_overload_with_more_arguments_is_counted_all_the_same(name):
    arguments = PRODUCTS[name]
    count = FLOPS[name](*arguments, result=None)
    assert FLOPS[name](*arguments, torch.float32, result=None) == count


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_are_counted_as_torch_does(name):
    arguments = CONVOLUTIONS[name]
    result = aten.convolution(*arguments)
    count = FLOPS["convolution"](*arguments, result=result)
    assert count == by_torch(aten.convolution, arguments, result) > 0


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("mask", [(True, True, False), (True, False, True), (False, True, True)])
def test_a_pass_back_costs_one_pass_forth_for_each_gradient(name, mask):
    given, weight, _, *rest = CONVOLUTIONS[name]
    forth = aten.convolution(given, weight, None, *rest)
    arguments = (torch.ones_like(forth), given, weight, [0], *rest, list(mask))
    result = aten.convolution_backward(*arguments)
    count = FLOPS["convolution_backward"](*arguments, result=result)
    once = FLOPS["convolution"](given, weight, None, *rest, result=forth)
    assert count == once * sum(mask[:2])
    if name != "in groups":
        assert count == by_torch(aten.convolution_backward, arguments, result)


def test_torch_still_counts_the_weight_of_each_group_for_all():
    """The one reason to count the pass back ourselves; when this fails, torch's count will do."""
    given, weight, _, *rest = CONVOLUTIONS["in groups"]
    forth = aten.convolution(given, weight, None, *rest)
    arguments = (torch.ones_like(forth), given, weight, [0], *rest, [False, True, False])
    result = aten.convolution_backward(*arguments)
    own = FLOPS["convolution_backward"](*arguments, result=result)
    assert by_torch(aten.convolution_backward, arguments, result) == 2 * own


def test_a_linear_layer_costs_what_its_product_does():
    given, weight = ones(2, 3, 4), ones(5, 4)
    expected = FLOPS["mm"](ones(6, 4), ones(4, 5), result=None)
    assert FLOPS["linear"](given, weight, result=None) == expected


def test_attention_costs_what_its_kernel_does():
    query, key, value = ones(2, 3, 4, 8), ones(2, 3, 5, 8), ones(2, 3, 5, 6)
    expected = by_torch(aten._scaled_dot_product_flash_attention, (query, key, value), None)
    count = FLOPS["scaled_dot_product_attention"]
    assert count(query, key, value, result=None) == expected
    assert count(query[0], key[0], value[0], result=None) == expected / 2
