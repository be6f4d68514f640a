"""Height maps of objects, from above and from below, for every way they can be turned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from syncprobe.workloads.packing.catalogue import GRID, axes_of, rotation_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from syncprobe.workloads.packing.catalogue import Angles, PackedObject, Rotation
    from syncprobe.workloads.packing.config import PackingOptions


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemMaps:
    """An object as the box sees it; maps are on the device."""

    width: int
    """In cells, along the first axis of the box."""
    depth: int
    top: Tensor
    """Height of its upper side; 0 where it is not."""
    bottom: Tensor
    """Height of its lower side; infinite where it is not."""


class Items:
    """Makes maps when they are first asked for and keeps them for an episode."""

    def __init__(self, options: PackingOptions, device: torch.device) -> None:
        self.options = options
        self.device = device
        self.objects: Sequence[PackedObject] = ()
        self.voxels: dict[int, Tensor] = {}
        """Occupancies on the device, by the number of the object."""
        self.cache: dict[Any, ItemMaps] = {}

    def begin(self, objects: Sequence[PackedObject]) -> None:
        """Take up the objects of an episode."""
        self.objects = objects
        self.cache.clear()
        self.voxels = {number: self.occupancy(number) for number in range(len(objects))}

    def occupancy(self, number: int) -> Tensor:
        """Which cells of its bounding box an object fills."""
        return torch.from_numpy(self.objects[number].shape.voxels).to(self.device)

    def key(self, number: int, angles: Angles) -> Any:
        """What maps are kept by."""
        return number, tuple(round(angle, 3) for angle in angles)

    def maps(self, number: int, angles: Angles) -> ItemMaps:
        """The maps of an object that is turned."""
        key = self.key(number, angles)
        if key not in self.cache:
            self.cache[key] = self.make(number, rotation_of(angles))
        return self.cache[key]

    def make(self, number: int, rotation: Rotation) -> ItemMaps:
        """Turn an object and look at it from above and from below."""
        span = self.span(number, rotation)
        width, depth = self.measure(number, rotation, span)
        order, backwards = axes_of(rotation)
        turned = self.voxels[number].permute(order).flip(backwards)
        levels = torch.arange(GRID, device=self.device)
        last = torch.where(turned, levels, -1).amax(2)
        first = torch.where(turned, levels, GRID).amin(2)
        level = span[2] / GRID
        top = (last + 1) * level
        bottom = torch.where(last < 0, torch.inf, first * level)
        rows, columns = self.resampling(width), self.resampling(depth)
        return ItemMaps(
            width=width,
            depth=depth,
            top=top[rows[:, None], columns],
            bottom=bottom[rows[:, None], columns],
        )

    def span(self, number: int, rotation: Rotation) -> Tensor:
        """The edges of the bounding box after turning, on the device."""
        absolute = torch.tensor(np.abs(rotation), dtype=torch.float32, device=self.device)
        edges = self.objects[number].dimensions
        return absolute @ torch.tensor(edges, dtype=torch.float32, device=self.device)

    def measure(self, _number: int, _rotation: Rotation, span: Tensor) -> tuple[int, int]:
        """Cells along the first two axes."""
        cells = torch.ceil(span / self.options.cell - 1e-4)
        return max(1, int(cells[0].item())), max(1, int(cells[1].item()))

    def resampling(self, count: int) -> Tensor:
        """Which of the occupancy's rows is seen in each of a number of cells."""
        return torch.from_numpy(resampled(count)).to(self.device)


def resampled(count: int) -> Any:
    """The same on the host."""
    return ((np.arange(count) + 0.5) * GRID / count).astype(np.int64)
