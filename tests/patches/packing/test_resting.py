"""Places found block by block are those found cell by cell, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import patches
from patches.packing.notes import notes_of
from patches.packing.plan import PLAN
from patches.packing.resting import find_places
from syncprobe.workloads.packing import PackingOptions, seeded_trainer
from syncprobe.workloads.packing.catalogue import catalogue, rotation_of, scaled


@pytest.mark.parametrize("resolution", [17, 32, 77])
def test_heights_and_room_are_equal_for_every_shape_and_orientation(resolution: int) -> None:
    options = PackingOptions(resolution=resolution, grid_step=3)
    objects = [scaled(shape, 1.1, options.side) for shape in catalogue()[:12]]
    with patches.applied("5", plan=PLAN):
        trainer = seeded_trainer(options, 0, "cpu")
        trainer.items.begin(objects)
        heights = np.random.default_rng(3).uniform(0, 0.2, (resolution, resolution))
        trainer.box.heights = torch.from_numpy(heights.astype(np.float32))
        for number in range(len(objects)):
            worker = trainer.worker
            every = [worker.items.maps(number, angles) for angles in worker.orientations]
            distinct = list(dict.fromkeys(every))
            assert len(distinct) <= 24
            rests, legal = find_places(worker, notes_of(worker.items), distinct)
            for orientation in range(0, len(every), 5):
                place = distinct.index(every[orientation])
                expected = worker.candidate(number, orientation)
                assert torch.equal(rests[place], expected.rests)
                assert torch.equal(legal[place], expected.legal)


def test_orientations_that_share_maps_look_the_same() -> None:
    options = PackingOptions(resolution=40)
    objects = [scaled(shape, 0.9, options.side) for shape in catalogue()]
    plain = seeded_trainer(options, 0, "cpu")
    plain.items.begin(objects)
    with patches.applied("5", plan=PLAN):
        shared = seeded_trainer(options, 0, "cpu")
        shared.items.begin(objects)
        for number in range(len(objects)):
            for angles in shared.worker.orientations:
                found, expected = (
                    shared.items.maps(number, angles),
                    plain.items.make(number, rotation_of(angles)),
                )
                assert torch.equal(found.top, expected.top)
                assert torch.equal(found.bottom, expected.bottom)
    kinds = {objects[key[0]].shape.kind for key in shared.items.cache}
    assert kinds == set(range(6))
    assert len(shared.items.cache) < 16 * len(objects)


def test_one_list_of_candidates_is_kept_while_the_next_one_is_made() -> None:
    with patches.applied("3", plan=PLAN):
        trainer = seeded_trainer(PackingOptions(resolution=17), 0, "cpu")
    notes = notes_of(trainer.items)
    lists = []
    for number in range(3):
        notes.turn_buffers()
        lists.append(notes.empty_maps(2, 4, 5, torch.float32).fill_(number))
        if number:
            assert (lists[number - 1] == number - 1).all()
    assert lists[0].data_ptr() == lists[2].data_ptr(), "memory of the list before is used again"
