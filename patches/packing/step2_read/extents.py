"""Extents of turned objects from what the host knows of them.

Replaces: syncprobe.workloads.packing.items:Items.measure
Removes:  two reads per new map
Keeps:    the extents: the same single precision
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from syncprobe.workloads.packing.catalogue import axes_of

if TYPE_CHECKING:
    from torch import Tensor

    from syncprobe.workloads.packing.catalogue import Rotation
    from syncprobe.workloads.packing.items import Items


def measure(self: Items, number: int, rotation: Rotation, _span: Tensor) -> tuple[int, int]:
    """Cells along the first two axes."""
    order, _ = axes_of(rotation)
    edges = self.objects[number].dimensions.astype(np.float32)[list(order[:2])]
    width, depth = np.ceil(edges / np.float32(self.options.cell) - np.float32(1e-4))
    return max(1, int(width)), max(1, int(depth))
