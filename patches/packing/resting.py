"""Where objects can go and how high they rest, for all orientations that differ.

An object's lower side is made of at most 16 x 16 blocks that are level. The highest point of the box under a
block minus the level of the block is, to the last bit, the largest of the differences under it: rounding never
changes the order of two numbers. So maxima over blocks are found first, and shared by all orientations of the
same extent, and an object then has 256 differences per place in place of one per cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from syncprobe.workloads.packing.box import TOLERANCE
from syncprobe.workloads.packing.catalogue import GRID

if TYPE_CHECKING:
    from torch import Tensor

    from patches.packing.notes import Notes
    from syncprobe.workloads.packing.items import ItemMaps
    from syncprobe.workloads.packing.worker import Worker


class Runs(NamedTuple):
    """The blocks of an extent along one axis, and the windows that cover them at every place."""

    window: int
    """Cells of the smallest block."""
    heads: Tensor
    """First cell of each block, as an index of an object's map."""
    first: Tensor
    """Where the window at the beginning of each block starts, by block and place."""
    last: Tensor
    """Where the one at its end does: blocks differ by one cell at most, so two windows cover them."""


def find_places(worker: Worker, notes: Notes, items: list[ItemMaps]) -> tuple[Tensor, Tensor]:
    """How high each item would rest in every cell, and whether it can go there."""
    options, count = worker.options, len(items)
    size, most = options.resolution, len(worker.orientations)
    rests = notes.empty_maps(count, size, most, torch.float32)
    legal = notes.empty_maps(count, size, most, torch.bool)
    groups: dict[tuple[int, int], list[int]] = {}
    for place, item in enumerate(items):
        groups.setdefault((item.width, item.depth), []).append(place)
    for (width, depth), places in groups.items():
        rows, columns = (_runs(worker, notes, extent) for extent in (width, depth))
        highest = _highest_under(worker.box.heights, rows, columns)
        bottoms = torch.stack(
            [items[place].bottom[rows.heads[:, None], columns.heads] for place in places]
        )
        heights = (highest - bottoms[:, :, :, None, None]).amax((1, 2))
        peaks = torch.stack([items[place].top.amax() for place in places])
        is_low = heights + peaks[:, None, None] <= options.side + TOLERANCE
        grid = options.grid_step
        for found, place in enumerate(places):
            there = place, slice(0, size - width + 1, grid), slice(0, size - depth + 1, grid)
            rests[there] = heights[found]
            legal[there] = is_low[found]
    return rests, legal


def _highest_under(heights: Tensor, rows: Runs, columns: Runs) -> Tensor:
    """The highest cell under each block: by block along both axes, then by place along both."""
    along = heights.unfold(0, rows.window, 1).amax(2)
    along = torch.maximum(along[rows.first], along[rows.last])
    both = along.unfold(2, columns.window, 1).amax(3)
    both = torch.maximum(both[:, :, columns.first], both[:, :, columns.last])
    return both.permute(0, 2, 1, 3).contiguous()


def _runs(worker: Worker, notes: Notes, extent: int) -> Runs:
    def make() -> Runs:
        options, count = worker.options, min(extent, GRID)
        # The cell of a block that is seen first, as `resampled` rounds; made where it is needed.
        numbers = torch.arange(count + 1, device=worker.device)
        borders = torch.div(numbers * extent + GRID // 2 - 1, GRID, rounding_mode="floor")
        heads, ends = (borders[:-1], borders[1:]) if extent > GRID else (numbers[:-1], numbers[1:])
        window, last = max(1, extent // GRID), options.resolution - extent
        places = torch.arange(0, last + 1, options.grid_step, device=worker.device)
        return Runs(window, heads, heads[:, None] + places, (ends - window)[:, None] + places)

    runs: Runs = notes.table(("runs", extent), make)
    return runs
