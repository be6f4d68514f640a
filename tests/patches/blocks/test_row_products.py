from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import linear

import syncprobe
from patches.blocks import row_products
from patches.blocks.row_products import MOST_GROUPS as MOST_ROBOTS
from patches.blocks.row_products import product
from patches.marinenav.forwards import MOST_ACTING

LAYERS = [(1, 7, 56), (5, 5, 40), (1, 256, 128), (1, 128, 2), (1, 128, 1275), (32, 64, 256)]
"""Rows per robot, inputs and outputs of the layers that policies have."""


def layer(robots: int, rows: int, inputs: int, outputs: int, seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shapes = ((robots, rows, inputs), (outputs, inputs), (outputs,))
    values, weight, bias = (torch.randn(shape, generator=generator) for shape in shapes)
    return [values * 300, weight, bias]


def one_by_one(values: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.stack([linear(each.clone(), weight, bias) for each in values])


@pytest.mark.parametrize("robots", [1, 2, 5, MOST_ROBOTS])
@pytest.mark.parametrize(("rows", "inputs", "outputs"), LAYERS)
def test_layers_of_the_policies_keep_every_bit(robots, rows, inputs, outputs):
    for seed in range(5):
        values = layer(robots, rows, inputs, outputs, seed)
        assert torch.equal(product(*values), one_by_one(*values))


@pytest.mark.parametrize(("rows", "inputs", "outputs"), LAYERS[:4])
def test_more_robots_keep_every_bit_where_somebody_needs_them(rows, inputs, outputs):
    values = layer(MOST_ACTING, rows, inputs, outputs)
    assert torch.equal(product(*values, MOST_ACTING), one_by_one(*values))


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, MOST_ROBOTS),
    st.integers(1, 6),
    st.integers(1, 90),
    st.integers(1, 90),
    st.data(),
)
def test_any_layer_keeps_every_bit(robots, rows, inputs, outputs, data):
    values = layer(robots, rows, inputs, outputs, data.draw(st.integers(0, 1000)))
    assert torch.equal(product(*values), one_by_one(*values))


def test_a_way_that_moves_the_last_bits_is_not_taken(monkeypatch):
    taken = []

    def rough(*values):
        return linear(*values) * (1 + 2e-7)

    def patient(*values):
        taken.append(values[0].shape)
        return one_by_one(*values)

    monkeypatch.setattr(row_products, "WAYS_OF_ONE_ROW", (rough, patient))
    monkeypatch.setattr(row_products, "_chosen", {})
    values = layer(3, 1, 20, 30)
    assert torch.equal(product(*values), one_by_one(*values))
    assert taken, "the rough way was refused"


def test_a_way_that_moves_few_last_bits_is_not_taken_either(monkeypatch):
    def seldom(*values):
        found = one_by_one(*values)
        is_moved = (found * 2**20).long() % 400 == 0
        return torch.where(is_moved, found * (1 + 2e-7), found)

    monkeypatch.setattr(row_products, "WAYS_OF_ONE_ROW", (seldom, one_by_one))
    monkeypatch.setattr(row_products, "_chosen", {})
    for robots in range(1, MOST_ROBOTS + 1):
        product(*layer(robots, 1, 17, 89))
    assert set(row_products._chosen.values()) == {one_by_one}


def test_choosing_a_way_draws_nothing_from_the_generator_of_the_program(monkeypatch):
    monkeypatch.setattr(row_products, "_chosen", {})
    before = torch.get_rng_state()
    product(*layer(2, 1, 8, 8))
    assert torch.equal(torch.get_rng_state(), before)


def test_defaults_of_the_program_do_not_matter(monkeypatch):
    monkeypatch.setattr(row_products, "_chosen", {})
    values = layer(5, 1, 128, 2)
    torch.set_default_dtype(torch.float64)
    try:
        with torch.device("meta"):
            found = product(*values)
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.equal(found, one_by_one(*values))


def test_many_robots_are_one_product():
    values = layer(MOST_ROBOTS + 1, 1, 256, 128)
    assert torch.equal(product(*values), linear(*values))


def test_on_a_device_it_is_one_launch_with_the_bits_of_the_host():
    values = layer(5, 1, 128, 2)
    with syncprobe.record(device="sim") as recording:
        on_device = [value.cuda() for value in values]
        before = recording.counts["launch"]
        result = product(*on_device)
        launched = recording.counts["launch"] - before
        found = result.cpu()
    assert launched == 1
    assert recording.profile().unknown_ops == ()
    assert torch.equal(found, one_by_one(*values))
