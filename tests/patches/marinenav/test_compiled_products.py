"""Matrix products of another library are used where they are quicker and sum in the same order, and only there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import arithmetic

pytest.importorskip("numba")
from patches.marinenav.step5_merge.compiled_environment.compiled import torch_library
from patches.marinenav.step5_merge.compiled_networks import products
from patches.marinenav.step5_merge.compiled_networks.compiled import product, runner, turning
from patches.marinenav.step5_merge.compiled_networks.tapes.memory import Memory
from patches.marinenav.step5_merge.compiled_networks.tapes.operations import (
    BLOCKS,
    PRODUCT,
    SPREAD,
    TURN,
)

needs_both = pytest.mark.skipif(
    bool(product.find_product()) or not product.HAS_BLOCKS, reason="torch shows one product only"
)
LAYOUTS = ("NN", "TN", "NT")


def sizes_of(layout: str, columns: int, rows: int, terms: int, adds: int = 0) -> tuple[int, ...]:
    """Numbers of a row after its places, for matrices without gaps."""
    a, b = layout
    ahead, behind = columns if a == "N" else terms, terms if b == "N" else rows
    return (ord(a), ord(b), columns, rows, terms, ahead, behind, adds)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks always are quicker."""

    def seconds(_: Any, row: tuple[int, ...]) -> float:
        return 0.0 if row[0] == BLOCKS else 1.0

    monkeypatch.setattr(products._Trial, "seconds", seconds)
    monkeypatch.setattr(products, "_found", {})


@settings(deadline=None, max_examples=80)
@given(rows=st.integers(1, 70), width=st.integers(1, 70), gap=st.integers(0, 9))
def test_rows_become_columns(rows: int, width: int, gap: int) -> None:
    numbers = np.random.default_rng(0).normal(size=(rows, width + gap)).astype(np.float32)
    found = np.full((width + 1, rows + turning.GAP), 7.0, dtype=np.float32)
    turning.turn(found.ctypes.data, numbers.ctypes.data, rows, width, width + gap)
    assert np.array_equal(found[:width, :rows], numbers[:, :width].T)
    assert (found[width] == 7.0).all(), "it writes beyond its end"
    assert (found[:, rows:] == 7.0).all(), "it writes between rows"


@needs_both
@settings(deadline=None, max_examples=60)
@given(
    layout=st.sampled_from(LAYOUTS),
    columns=st.one_of(st.integers(1, 40), st.sampled_from([51, 128, 321, 1275])),
    rows=st.integers(1, 70),
    terms=st.integers(1, 300),
    adds=st.integers(0, 1),
    step=st.sampled_from([16, 128, 1000]),
)
def test_blocks_multiply(
    layout: str, columns: int, rows: int, terms: int, adds: int, step: int
) -> None:
    """To the bit is asked where they are used; that every layout and remainder is right can be said anywhere."""
    sizes = sizes_of(layout, columns, rows, terms, adds)
    trial = products._Trial(sizes)
    found, wanted = (
        trial.results(row)[0].view(np.float32)
        for row in ((BLOCKS, 0, 1, 2, *sizes, 3, step), (PRODUCT, 0, 1, 2, *sizes))
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)


@needs_both
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("terms", [64, 128, 256, 512, 1275])
def test_what_is_chosen_has_the_bits_of_torch(layout: str, terms: int) -> None:
    """Other factors than those of the trial, half of them rectified."""
    columns, rows = 128, 64
    sizes = sizes_of(layout, columns, rows, terms)
    step = products._try(sizes)
    if not step:
        pytest.skip("here the two libraries sum in other orders")
    random = torch.Generator().manual_seed(9)
    a = torch.randn(columns, terms, generator=random).clamp_(min=0.0)
    b = torch.randn(rows, terms, generator=random)
    one = a if layout[0] == "T" else a.t().contiguous()
    other = b if layout[1] == "N" else b.t().contiguous()
    found, room = torch.empty(rows, columns), torch.empty(products._room_for(sizes))
    row = (BLOCKS, 0, 1, 2, *sizes, 3, step)
    addresses = np.array([each.data_ptr() for each in (found, one, other, room)])
    tape = products.as_tape([row])
    runner.run(8, tape, addresses, np.zeros_like(addresses), 1, runner.SCALARS)
    wanted = torch.mm(
        other if layout[1] == "N" else other.t(), one.t() if layout[0] == "T" else one
    )
    assert torch.equal(found.view(torch.int32), wanted.view(torch.int32))


def test_networks_and_products_with_the_kernels_of_this_machine() -> None:
    """Portable kernels are those of no other library, so that here nothing would be chosen."""
    if not arithmetic.is_portable():
        pytest.skip("this session runs with them already")
    here = Path(__file__)
    files = (here, here.with_name("test_compiled_networks.py"), here.with_name("test_updates.py"))
    inherited = arithmetic.native(os.environ).items()
    environment = {name: value for name, value in inherited if "XDIST" not in name}
    environment[arithmetic.SWITCH] = "native"
    chosen = "chosen or keeps_its_bits or as_if_alone or slopes_of_actions or same_bits"
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen, *files],
        env=environment, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stdout


@pytest.mark.usefixtures("quick")
def test_one_that_sums_otherwise_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    results = products._Trial.results

    def otherwise(self: Any, row: tuple[int, ...]) -> list[Any]:
        ordinary, uneven = results(self, row)
        return [ordinary, uneven + (np.arange(len(uneven)) == 5) * (row[0] == BLOCKS)]

    monkeypatch.setattr(products._Trial, "results", otherwise)
    assert products._try(sizes_of("NN", 128, 64, 128)) == 0, "one bit of one number differs"


@pytest.mark.usefixtures("quick")
def test_one_that_is_slower_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products._Trial, "seconds", lambda *_: 1.0)
    assert products._try(sizes_of("NN", 128, 64, 128)) == 0


@pytest.mark.parametrize(
    ("library", "name"), [("libtorch_cpu.so", "no_such_function"), ("libnosuch.so", "sgemm_")]
)
def test_what_torch_does_not_show_is_said_to_be_missing(
    library: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_library, "_LIBRARY", library)
    monkeypatch.setattr(torch_library, "_library", torch_library._library.__wrapped__)
    assert not torch_library.show("patches_nothing", name)


def test_small_products_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "_Trial", None)
    assert products._try(sizes_of("TN", 2, 64, 128)) == 0


def test_without_the_other_library_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "HAS_BLOCKS", False)
    monkeypatch.setattr(products, "_Trial", None)
    assert products._try(sizes_of("NN", 128, 64, 128)) == 0


def test_tapes_are_told_with_room_for_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "_terms_at_once", lambda sizes: sizes[4] if sizes[4] > 2 else 0)
    memory = Memory()
    small, large = sizes_of("NN", 8, 4, 16), sizes_of("NN", 8, 9, 32)
    spread, left = (SPREAD, 0, 1, 0, 4, 8), (PRODUCT, 0, 1, 2, *sizes_of("NN", 8, 4, 2))
    forward = [spread, (PRODUCT, 0, 1, 2, *small), left]
    back = [(PRODUCT, 3, 4, 5, *large)]
    products.choose(forward, back, memory=memory)
    (room,) = memory.offsets
    assert forward == [spread, (BLOCKS, 0, 1, 2, *small, room, 16), left]
    assert back == [(BLOCKS, 3, 4, 5, *large, room, 32)]
    assert memory.length >= (8 + 9) * 32


@needs_both
def test_weights_of_groups_are_turned_once() -> None:
    """However many groups there are: two here, whose weight is turned for the first one only."""
    memory = Memory()
    to, weight, other = memory.take(), memory.take(), memory.take()
    sizes = sizes_of("TN", 24, 3, 16)
    left = (BLOCKS, to, weight, other, *sizes_of("NN", 24, 3, 16), 0, 16)
    tape = [(BLOCKS, to, weight, other, *sizes, 0, 16), left]
    products.turn_first(tape, memory)
    (room,) = memory.offsets
    assert [row[0] for row in tape] == [TURN, BLOCKS, BLOCKS]
    assert tape[2] == left, "what is not turned stays"
    random = torch.Generator().manual_seed(0)
    one, others = torch.randn(24, 16, generator=random), torch.randn(2, 3, 16, generator=random)
    found, space = torch.empty(2, 3, 24), torch.empty(memory.length)
    addresses = np.array([each.data_ptr() for each in (found, one, others, space)])
    strides = np.array([4 * 3 * 24, 0, 4 * 3 * 16, 0])
    runner.run(8, products.as_tape(tape[:2]), addresses, strides, 2, runner.SCALARS)
    assert room == 3
    torch.testing.assert_close(found, others @ one.t())


def test_tapes_without_any_take_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "_terms_at_once", lambda _: 0)
    memory = Memory()
    products.choose([(PRODUCT, 0, 1, 2, *sizes_of("NN", 8, 4, 2))], memory=memory)
    assert memory.slots == 0
