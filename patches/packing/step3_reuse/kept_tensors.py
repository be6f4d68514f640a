"""Tensors that never change are made once, and maps are drawn in memory that is there.

Replaces: syncprobe.workloads.packing.items:Items.occupancy, span, resampling;
          syncprobe.workloads.packing.worker:Worker.places, angles_of, spread, maps_of
Removes:  five uploads per orientation and list, four per new map, and the memory of all maps but the chosen
Keeps:    their values
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

import numpy as np
import torch

from patches.packing import scoring
from patches.packing.notes import notes_of
from syncprobe.workloads.packing.catalogue import GRID, axes_of, catalogue

if TYPE_CHECKING:
    from torch import Tensor

    from syncprobe.workloads.packing.catalogue import Rotation
    from syncprobe.workloads.packing.items import ItemMaps, Items
    from syncprobe.workloads.packing.worker import Worker

ORDERS: Final = list(itertools.permutations(range(3)))
"""Which edge can be along which axis."""


def occupancy(self: Items, number: int) -> Tensor:
    """Which cells of its bounding box an object fills; all shapes there are go up at once."""
    shapes = catalogue()

    def make() -> Tensor:
        return torch.from_numpy(np.stack([each.voxels for each in shapes])).to(self.device)

    every: Tensor = notes_of(self).table("voxels", make)
    return every[shapes.index(self.objects[number].shape)]


def span(self: Items, number: int, rotation: Rotation) -> Tensor:
    """The edges of the bounding box after turning; those of all objects go up at once."""

    def make() -> Tensor:
        edges = np.stack([each.dimensions for each in self.objects])[:, ORDERS]
        return torch.tensor(edges, dtype=torch.float32, device=self.device)

    every: Tensor = notes_of(self).of_scene("edges", make)
    return every[number, ORDERS.index(axes_of(rotation)[0])]


def resampling(self: Items, count: int) -> Tensor:
    """Which of the occupancy's rows is seen in each of a number of cells, made on the device."""

    def make() -> Tensor:
        doubled = torch.arange(1, 2 * count, 2, device=self.device)
        return torch.div(doubled * GRID, 2 * count, rounding_mode="floor")

    kept: Tensor = notes_of(self).table(("resampling", count), make)
    return kept


def places(self: Worker, extent: int) -> Tensor:
    """Where an object of some extent can begin, along one axis, made on the device."""
    notes, end = notes_of(self.items), self.options.resolution - extent + 1
    kept: Tensor = notes.table(
        ("places", extent),
        lambda: torch.arange(0, end, self.options.grid_step, device=self.device),
    )
    return kept


def angles_of(self: Worker, orientation: int) -> Tensor:
    """The angles of an orientation, on the device."""
    notes = notes_of(self.items)
    table: Tensor = notes.table(
        "angles", lambda: torch.tensor(self.orientations, device=self.device)
    )
    return table[orientation]


def spread(self: Worker, item: ItemMaps, values: Tensor, empty: Tensor) -> Tensor:
    """Values at the places of the grid, on a map of all cells that is used again."""
    notes, size = notes_of(self.items), self.options.resolution
    canvas = notes.empty_maps(1, size, len(self.orientations), empty.dtype)[0]
    rows, columns = self.places(item.width), self.places(item.depth)
    canvas[rows[:, None], columns] = values
    return canvas


def maps_of(self: Worker, item: ItemMaps) -> Tensor:
    """What the network is shown, with the object drawn once per episode."""
    return scoring.maps_of(self, item)
