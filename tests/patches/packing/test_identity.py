"""Every choice of steps packs, draws, earns and learns what the unpatched workload does."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.patches.packing.runs import WAYS, run, unequal

SUBSETS = [steps for count in range(2, 5) for steps in itertools.combinations(range(1, 6), count)]
CUMULATIVE = [tuple(range(1, last + 1)) for last in range(1, 6)]
LEARNT = ("ahead", "losses", "worker ", "manager ")
"""What forwards of another batch size may round otherwise."""


@cache
def unpatched(way: str) -> dict[str, Any]:
    return run(way)


@pytest.mark.parametrize("number", range(1, 6))
def test_each_step_alone_and_with_those_before_it_keeps_every_bit(number: int) -> None:
    assert unequal(unpatched("joint"), run("joint", (number,), "exact")) == set()
    assert unequal(unpatched("joint"), run("joint", CUMULATIVE[number - 1], "exact")) == set()


@pytest.mark.slow
@pytest.mark.parametrize("steps", SUBSETS, ids=str)
@pytest.mark.parametrize("way", WAYS)
def test_every_subset_keeps_every_bit(way: str, steps: tuple[int, ...]) -> None:
    assert unequal(unpatched(way), run(way, steps, "exact")) == set()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", ["exact", "fast"])
def test_the_last_level_does_the_same_everywhere(way: str, mode: str) -> None:
    expected, found = unpatched(way), run(way, CUMULATIVE[-1], mode)
    different = unequal(expected, found)
    if mode == "exact":
        assert different == set()
    assert not {name for name in different if not name.startswith(LEARNT)}
    for name in different:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-4, atol=1e-5)


def test_the_ways_reach_what_they_are_there_for() -> None:
    full, turned = unpatched("full"), unpatched("turned")
    packed = full["log"][:, 1]
    assert (packed < WAYS["full"]["num_objects"]).all(), "there was no room for all"
    assert len(full["placements"]) > 4
    assert turned["placements"][:, 2].max() > 8, "later triples are chosen, too"
    assert len(unpatched("joint")["losses"]) > 0


def test_another_seed_would_be_noticed() -> None:
    different = unequal(unpatched("joint"), run("joint", seed=8))
    assert {"placements", "rewards", "next draws"} <= different


@pytest.mark.parametrize("steps", [(), (3,), (4,), CUMULATIVE[-1]], ids=str)
def test_stored_maps_differ_over_time(steps: tuple[int, ...]) -> None:
    """Buffers are used again: a memory of views would have the newest box everywhere."""
    maps = run("worker", steps)["worker maps"]
    boxes = maps[:5, 0].reshape(5, -1)
    assert not boxes[0].any(), "the box was empty at first"
    assert len({box.tobytes() for box in boxes}) == 5
    assert (np.diff(boxes, axis=0) >= 0).all(), "heights only grow within an episode"
