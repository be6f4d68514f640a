"""Objects are put where the host says, and everything about that is checked in one read.

Replaces: syncprobe.workloads.packing.box:Box.place
Removes:  nine reads, one copy and one upload per step; with step 4 the check waits for the end of the episode
Keeps:    the height map, and what is refused
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from patches.packing.notes import notes_of
from syncprobe.workloads.packing.box import TOLERANCE, Placed
from syncprobe.workloads.packing.config import PackingError

if TYPE_CHECKING:
    from torch import Tensor

    from syncprobe.workloads.packing.box import Box, Placement


def place(self: Box, placement: Placement) -> Placed:
    """Put an object where it is to go."""
    item, x, y, z = placement.item, placement.x, placement.y, placement.z
    size, notes = self.options.resolution, notes_of(self.items)
    if not (0 <= x <= size - item.width and 0 <= y <= size - item.depth):
        raise PackingError("The object is outside of the box.")
    below = self.heights[x : x + item.width, y : y + item.depth]
    required = (below - item.bottom).amax()
    self.put(item, x, y, z)
    if notes.has(4) and isinstance(z, float):
        is_sound = torch.isfinite(required) & (required - TOLERANCE <= z)
        notes.scene.setdefault("checks", []).append(is_sound)
        return Placed(x, y, z)
    return Placed(x, y, _checked(self, required, z))


def _checked(box: Box, required: Tensor, z: float | Tensor) -> float:
    known = [] if isinstance(z, float) else [z]
    packed = torch.stack([required, box.heights.amax(), *known])
    needed, box.top, *rest = notes_of(box.items).read_back.read(packed).tolist()
    height = float(rest[0] if rest else z)
    if not math.isfinite(needed):
        raise PackingError("The object touches nothing.")
    if not height >= needed - TOLERANCE:
        raise PackingError("The object is inside of another.")
    return height
