"""Every choice of steps packs, draws, earns and learns what the unpatched workload does."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import patches
from patches.packing.plan import PLAN
from syncprobe.workloads.packing import PackingOptions, seeded_trainer
from syncprobe.workloads.packing.config import PackingError
from tests.patches.packing.runs import SMALL, WAYS, run, unequal

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


@pytest.mark.parametrize("steps", [(4,), CUMULATIVE[-1]], ids=str)
def test_a_memory_that_is_full_forgets_what_is_oldest(steps: tuple[int, ...]) -> None:
    expected, found = run("few memories"), run("few memories", steps, "exact")
    assert len(expected["worker reward"]) < len(expected["placements"]), "it went round"
    assert unequal(expected, found) == set()


@pytest.mark.parametrize("steps", [(), (2,), CUMULATIVE[-1]], ids=str)
def test_other_objects_than_were_looked_at_are_assessed_anew(steps: tuple[int, ...]) -> None:
    with patches.applied(steps, "exact", plan=PLAN):
        trainer = seeded_trainer(PackingOptions(**{**SMALL, **WAYS["joint"]}), 7, "cpu")
        next(iter(trainer.run()))
        trainer.manager.ahead([0, 1, 2])
        numbers, _, _ = trainer.manager.assess([1, 2])
    assert sorted(numbers) == [1, 2]


@pytest.mark.parametrize("steps", [(), (2,), (2, 4)], ids=str)
def test_an_object_inside_of_another_is_refused(steps: tuple[int, ...]) -> None:
    """With step 4 at the end of the episode, when everything is read."""
    with patches.applied(steps, "exact", plan=PLAN):
        trainer = seeded_trainer(PackingOptions(**{**SMALL, **WAYS["worker"]}), 7, "cpu")
        record = next(iter(trainer.run()))
        trainer.box.heights.fill_(1.0)
        inside = replace(record.placement, z=0.0)
        with pytest.raises(PackingError, match="inside of another"):
            _place_and_read(trainer, inside)


def _place_and_read(trainer: Any, placement: Any) -> None:
    trainer.box.place(placement)
    trainer.read([])


@pytest.mark.parametrize("chosen", [(5,), CUMULATIVE[-1]], ids=str)
def test_the_target_answers_for_itself(chosen: tuple[int, ...]) -> None:
    """In runs it has often just become what the other network is, so that either would do."""
    found = []
    for steps, factor in (((), -1), (chosen, -1), (chosen, 1)):
        with patches.applied(steps, "exact", plan=PLAN):
            trainer = seeded_trainer(PackingOptions(**{**SMALL, **WAYS["worker"]}), 7, "cpu")
            worker = trainer.worker
            for parameter in worker.target.parameters():
                parameter.data.mul_(factor)
            ahead = [float(each.ahead) for each in itertools.islice(trainer.run(), 4)]
            scores = worker.scores(worker.candidates(4), worker.target)
            found.append((ahead, [each.tolist() for each in scores]))
    assert found[0] == found[1]
    assert found[1][0] != found[2][0]
