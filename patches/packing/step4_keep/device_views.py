"""What the manager looks at never leaves the device.

Replaces: syncprobe.workloads.packing.manager:Manager.look, values
Removes:  a copy of the box and six copies per object and look, and the uploads of all that
Keeps:    what networks are shown, bit for bit
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch

from patches.packing.notes import notes_of
from syncprobe.workloads.packing.manager import VIEWS, Input

if TYPE_CHECKING:
    from torch import Tensor, nn

    from syncprobe.workloads.packing.manager import Manager


def look(self: Manager, numbers: list[int]) -> Input:
    """The box and each object from six sides, put together on the device."""
    notes, size = notes_of(self.items), self.options.resolution
    side = torch.full((), self.options.side, device=self.device)
    box = (self.box.heights / side).clamp(0, 1)
    views = torch.stack(
        [notes.of_scene(("views", each), partial(_views, self, each)) for each in numbers]
    )
    boxes = box.expand(len(numbers), 1, size, size)
    return Input(maps=torch.cat([boxes, views], 1), scalars=_scalars(self, numbers))


def _views(manager: Manager, number: int) -> Tensor:
    """An object from six sides, each in the middle of an empty map; they are drawn once per episode."""
    size = manager.options.resolution
    side = torch.full((), manager.options.side, device=manager.device)
    canvases = torch.zeros(len(VIEWS), size, size, device=manager.device)
    for channel, angles in enumerate(VIEWS):
        item = manager.items.maps(number, angles)
        seen = item.bottom if channel == len(VIEWS) - 1 else item.top
        x, y = (size - item.width) // 2, (size - item.depth) // 2
        heights = torch.where(torch.isinf(seen), 0.0, seen) / side
        canvases[channel, x : x + item.width, y : y + item.depth] = heights.clamp(0, 1)
    return canvases


def _scalars(manager: Manager, numbers: list[int]) -> Tensor:
    """Each object and the box in numbers; objects are sent up once per episode."""
    notes, cells = notes_of(manager.items), manager.options.resolution**2

    def make() -> list[Tensor]:
        every = range(len(manager.items.objects))
        rows = [manager.object_scalars(each) for each in every]
        return list(torch.tensor(rows, dtype=torch.float32, device=manager.device))

    known = notes.of_scene("objects", make)
    heights = manager.box.heights.double()
    total = heights.sum()
    by_cells, by_volume, count = (
        torch.full_like(total, each)
        for each in (cells, cells * manager.options.side, len(numbers) / 64)
    )
    shared = torch.stack([total / by_cells, heights.amax(), total / by_volume, count]).float()
    rows = torch.stack([known[each] for each in numbers])
    return torch.cat([rows, shared.expand(len(numbers), -1)], 1)


def values(_self: Manager, seen: Input, network: nn.Module) -> Tensor:
    """What a network says about each object."""
    with torch.no_grad():
        found: Tensor = network(seen.maps, seen.scalars)
        return found
