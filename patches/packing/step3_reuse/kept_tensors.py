"""Tensors that never change are made once, and maps are drawn in memory that is there.

Replaces: syncprobe.workloads.packing.items:Items.occupancy, span, resampling;
          syncprobe.workloads.packing.worker:Worker.places, angles_of, spread, maps_of
Removes:  five uploads per orientation and list, four per new map, and the memory of all maps but the chosen
Keeps:    their values
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from patches.packing import scoring
from patches.packing.notes import notes_of
from syncprobe.workloads.packing.items import Items
from syncprobe.workloads.packing.worker import Worker

if TYPE_CHECKING:
    from torch import Tensor

    from syncprobe.workloads.packing.catalogue import Rotation
    from syncprobe.workloads.packing.items import ItemMaps

_unpatched_occupancy = Items.occupancy
_unpatched_resampling = Items.resampling
_unpatched_places = Worker.places


def span(self: Items, number: int, rotation: Rotation) -> Tensor:
    """The edges of the bounding box after turning, on the device."""
    notes, device = notes_of(self), self.device

    def make_rotation() -> Tensor:
        return torch.tensor(rotation, dtype=torch.float32, device=device).abs()

    def make_edges() -> Tensor:
        edges = np.stack([each.dimensions for each in self.objects])
        return torch.tensor(edges, dtype=torch.float32, device=device)

    turned: Tensor = notes.table(("rotation", rotation), make_rotation)
    edges: Tensor = notes.of_scene("edges", make_edges)
    return turned @ edges[number]


def occupancy(self: Items, number: int) -> Tensor:
    """Which cells of its bounding box an object fills; shapes come back in later episodes."""
    shape = id(self.objects[number].shape)  # of the catalogue, which stays
    kept: Tensor = notes_of(self).table(
        ("voxels", shape), lambda: _unpatched_occupancy(self, number)
    )
    return kept


def resampling(self: Items, count: int) -> Tensor:
    """Which of the occupancy's rows is seen in each of a number of cells."""
    kept: Tensor = notes_of(self).table(
        ("resampling", count), lambda: _unpatched_resampling(self, count)
    )
    return kept


def places(self: Worker, extent: int) -> Tensor:
    """Where an object of some extent can begin, along one axis."""
    notes = notes_of(self.items)
    kept: Tensor = notes.table(("places", extent), lambda: _unpatched_places(self, extent))
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
