"""Orientations in which an object looks the same share their maps.

Replaces: syncprobe.workloads.packing.items:Items.key
Removes:  maps of 64 triples of angles, of which 24 are different rotations and fewer look different
Keeps:    the maps: what is compared is all that they are made of
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from syncprobe.workloads.packing.catalogue import GRID, axes_of, rotation_of

if TYPE_CHECKING:
    from syncprobe.workloads.packing.catalogue import Angles, Rotation
    from syncprobe.workloads.packing.items import Items


def key(self: Items, number: int, angles: Angles) -> Any:
    """The object, its edges along the axes of the box, and what is seen from above and below."""
    rotation = rotation_of(angles)
    each = self.objects[number]
    order, _ = axes_of(rotation)
    edges = tuple(float(each.dimensions[axis]) for axis in order)
    return number, edges, _sight(each.shape.voxels.tobytes(), rotation)


@cache
def _sight(voxels: bytes, rotation: Rotation) -> tuple[bytes, bytes]:
    """Last and first occupied cell of every column of a turned object."""
    occupied = np.frombuffer(voxels, dtype=bool).reshape(GRID, GRID, GRID)
    order, backwards = axes_of(rotation)
    turned = np.flip(occupied.transpose(order), backwards)
    levels = np.arange(GRID)
    last = np.where(turned, levels, -1).max(2)
    first = np.where(turned, levels, GRID).min(2)
    return last.tobytes(), first.tobytes()
