"""The packing workload keeps to its rules."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from syncprobe.workloads.packing import PRESETS, PackingOptions, seeded_trainer
from syncprobe.workloads.packing.box import Metrics, measured, worth
from syncprobe.workloads.packing.catalogue import (
    GRID,
    axes_of,
    catalogue,
    combinations,
    orientations,
    rotation_of,
    scaled,
)
from syncprobe.workloads.packing.config import PackingError

SMALL = {"resolution": 32, "orientation_step": math.pi, "num_objects": 5, "max_steps": 5}


def test_64_triples_are_24_rotations_in_the_order_of_a_mesh() -> None:
    triples = orientations(math.pi / 2)
    assert len(triples) == 64
    assert len({rotation_of(each) for each in triples}) == 24
    # With NumPy's default indexing, the second of three axes varies slowest, the third fastest.
    roll, pitch, yaw = (np.array(column) for column in zip(*triples, strict=True))
    assert roll[:4].tolist() == pytest.approx([0, math.pi / 2, math.pi, 3 * math.pi / 2])
    assert not yaw[:4].any()
    assert yaw[4] == pytest.approx(math.pi / 2)
    assert not pitch[:16].any()
    assert len(orientations(math.pi)) == 8


def test_turning_voxels_is_turning_points() -> None:
    marked = np.zeros((GRID, GRID, GRID), dtype=bool)
    marked[1, 2, 3] = True
    centre = (GRID - 1) / 2
    for angles in orientations(math.pi / 2):
        rotation = rotation_of(angles)
        order, backwards = axes_of(rotation)
        turned = np.flip(marked.transpose(order), backwards)
        expected = np.array(rotation) @ (np.array([1, 2, 3]) - centre) + centre
        assert np.argwhere(turned).tolist() == [expected.astype(int).tolist()]


def test_the_catalogue_is_what_its_generator_draws() -> None:
    shapes = catalogue()
    assert [shape.kind for shape in shapes] == [number % 6 for number in range(24)]
    assert all(0.03 <= edge <= 0.09 for shape in shapes for edge in shape.dimensions)
    assert shapes[0].fill == 1
    assert shapes[1].fill == pytest.approx(math.pi / 6, abs=0.01)
    assert np.array_equal(combinations(3, 4, 20), combinations(3, 9, 20)[:4])
    assert max(scaled(shapes[3], 9.0, 0.256).dimensions) == pytest.approx(0.256)


def test_objects_rest_on_what_is_below_and_raise_it() -> None:
    trainer = seeded_trainer(PackingOptions(**SMALL, grid_step=1), 0, "cpu")
    trainer.items.begin([scaled(shape, 1.0, 0.256) for shape in catalogue()[:6]])
    trainer.box.heights[4:9, 5:7] = 0.05
    for number in range(6):
        entry = trainer.worker.candidate(number, 0)
        item, box = entry.item, trainer.box.heights
        for x, y in itertools.product((0, 3, 10), (0, 4, 12)):
            below = box[x : x + item.width, y : y + item.depth]
            assert entry.rests[x, y] == max((below - item.bottom).flatten().tolist())
            is_low = entry.rests[x, y] + item.top.max() <= 0.256 + 1e-6
            assert entry.legal[x, y] == is_low
    heights = trainer.box.heights.clone()
    trainer.box.put(item, 3, 4, entry.rests[3, 4])
    raised = torch.where(item.top > 0, item.top + entry.rests[3, 4], 0.0)
    heights[3 : 3 + item.width, 4 : 4 + item.depth].clamp_(min=raised)
    assert torch.equal(trainer.box.heights, heights)


def test_rewards_follow_their_formula() -> None:
    options = PackingOptions(**SMALL)
    heights = np.zeros((32, 32), dtype=np.float32)
    heights[2:6, 3:11] = 0.1
    heights[3, 4] = 0.2
    found = measured(heights, 1e-4, options)
    area = options.cell**2
    assert found.compactness == pytest.approx(1e-4 / (32 * area * 0.2))
    assert found.pyramidality == pytest.approx(1e-4 / ((31 * 0.1 + 0.2) * area))
    assert measured(0 * heights, 1e-4, options) == Metrics()
    reward = worth(Metrics(0.2, 0.1, 0.1), Metrics(0.5, 0.05, 0.2), 1e-5, 0.256)
    objective = 0.5 * 0.5 + 0.3 * 0.05
    assert reward == pytest.approx(1 + 0.4 * 0.3 + 0.2 * objective - 0.1 * 0.1 / 0.256)


def test_an_action_that_cannot_be_is_refused() -> None:
    trainer = seeded_trainer(PackingOptions(**SMALL), 0, "cpu")
    trainer.begin(0)
    with pytest.raises(PackingError, match="finite"):
        trainer.box.step(0, torch.tensor([math.nan, 0, 0, 0, 0, 0]))
    with pytest.raises(PackingError, match="outside"):
        trainer.box.step(0, torch.tensor([31.0, 0, 0, 0, 0, 0]))
    with pytest.raises(PackingError, match="inside of another"):
        trainer.box.step(0, torch.tensor([0.0, 0, -1, 0, 0, 0]))
    assert not trainer.box.heights.any()


def test_networks_learn_between_episodes_only_and_targets_follow_every_fifth() -> None:
    options = PackingOptions(
        **{**SMALL, "num_objects": 4, "orientation_step": 2 * math.pi},
        episodes=5,
        phase="joint",
        batch_size=4,
        updates=1,
    )
    trainer = seeded_trainer(options, 0, "cpu")
    worker, first = trainer.worker, {}
    for record in trainer.run():
        weights = worker.online.numbers[0].weight.detach().clone()
        first.setdefault(record.episode, weights)
        if not record.is_done:
            assert torch.equal(weights, first[record.episode])
    assert not torch.equal(first[0], first[1])
    assert torch.equal(worker.online.numbers[0].weight, worker.target.numbers[0].weight)
    assert [len(each.worker_losses) for each in trainer.log] == [1] * 5
    assert [len(each.manager_losses) for each in trainer.log] == [1, 0, 0, 0, 1]
    assert trainer.worker_learner.optimizer.param_groups[0]["lr"] == 1e-4
    assert "joint" in trainer.log[0].line()


def test_phases_and_chance() -> None:
    automatic = PackingOptions(episodes=200)
    assert [automatic.is_joint(each) for each in (0, 99, 100)] == [False, False, True]
    assert not PackingOptions(episodes=1).is_joint(0)
    assert PackingOptions(phase="joint").is_joint(0)
    assert automatic.chance(0) == pytest.approx(0.9)
    assert automatic.chance(60) == pytest.approx(0.1 + 0.8 / math.e)
    assert PackingOptions(epsilon=0.0).chance(0) == 0


@pytest.mark.parametrize(
    "wrong",
    [{"orientation_step": 1.0}, {"phase": "both"}, {"epsilon": 2.0}, {"batch_size": 3}],
    ids=str,
)
def test_what_cannot_be_run_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(PackingError):
        PackingOptions(**wrong)


def test_the_published_networks_run_at_odd_sizes() -> None:
    sizes = {**PRESETS["paper"], "batch_size": 2, "pool_size": 1, "resolution": 27}
    options = PackingOptions(
        **sizes, num_objects=2, max_steps=2, orientation_step=2 * math.pi, phase="joint", updates=1
    )
    trainer = seeded_trainer(options, 0, "cpu")
    assert len(list(trainer.run())) == 2
    assert len(trainer.log[0].worker_losses) == len(trainer.log[0].manager_losses) == 1
    convolutions = [each for each in trainer.worker.online.modules() if _is_double(each)]
    assert len(convolutions) == 14


def _is_double(module: torch.nn.Module) -> bool:
    return isinstance(module, torch.nn.Conv2d) and module.kernel_size == (3, 3)
