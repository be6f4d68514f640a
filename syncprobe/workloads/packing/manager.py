"""The manager: looks at every object that is left, from six sides, and picks the next one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from syncprobe.workloads.packing.networks import MANAGER_MAPS, ManagerNetwork

if TYPE_CHECKING:
    from torch import Tensor, nn

    from syncprobe.workloads.packing.box import Box
    from syncprobe.workloads.packing.config import PackingOptions
    from syncprobe.workloads.packing.items import Items

HALF: Final = math.pi / 2
VIEWS: Final = (
    (HALF, 0.0, 0.0),
    (3 * HALF, 0.0, 0.0),
    (0.0, HALF, 0.0),
    (0.0, 3 * HALF, 0.0),
    (0.0, 0.0, 0.0),
    (0.0, 0.0, 0.0),
)
"""Front, rear, left, right, top, and from below."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Input:
    """What the networks are shown, a row for each object."""

    maps: Any
    scalars: Any


@dataclass(frozen=True, eq=False, kw_only=True)
class Ahead:
    """What is to be had from the objects that will be left."""

    number: int
    """The object that the network would pick."""
    value: Any


class Manager:
    """Two networks and what they look at."""

    def __init__(self, options: PackingOptions, items: Items, box: Box) -> None:
        self.options = options
        self.items = items
        self.box = box
        self.device = items.device
        self.online = ManagerNetwork(options.network).to(self.device).eval()
        self.target = ManagerNetwork(options.network).to(self.device).eval()
        self.target.load_state_dict(self.online.state_dict())

    def shortlist(self, unpacked: list[int]) -> list[int]:
        """The objects to choose from: all, or the largest ones."""
        most = self.options.manager_candidates
        if len(unpacked) <= most:
            return unpacked
        objects = self.items.objects
        largest = sorted(unpacked, key=lambda each: (-objects[each].bounding_volume, each))
        return largest[:most]

    def look(self, numbers: list[int]) -> Input:
        """The box and each object from six sides, put together on the host."""
        size, side = self.options.resolution, np.float32(self.options.side)
        box = self.box.heights.cpu().numpy()
        maps = np.zeros((len(numbers), MANAGER_MAPS, size, size), dtype=np.float32)
        maps[:, 0] = np.clip(box / side, 0, 1)
        for row, number in enumerate(numbers):
            for channel, angles in enumerate(VIEWS, start=1):
                item = self.items.maps(number, angles)
                is_below = channel == len(VIEWS)
                seen = (item.bottom if is_below else item.top).cpu().numpy()
                x, y = (size - item.width) // 2, (size - item.depth) // 2
                heights = np.clip(np.where(np.isinf(seen), 0, seen) / side, 0, 1)
                maps[row, channel, x : x + item.width, y : y + item.depth] = heights
        exact = box.astype(np.float64)
        return Input(maps=maps, scalars=self.scalars(numbers, exact.sum(), exact.max()))

    def scalars(self, numbers: list[int], total: float, top: float) -> Any:
        """Each object and the box in numbers."""
        side, cells = self.options.side, self.options.resolution**2
        shared = total / cells, top, total / (cells * side), len(numbers) / 64
        rows = [(*self.object_scalars(number), *shared) for number in numbers]
        return np.array(rows, dtype=np.float32)

    def object_scalars(self, number: int) -> tuple[float, ...]:
        """An object in numbers."""
        side, each = self.options.side, self.items.objects[number]
        return (*(each.dimensions / side).tolist(), each.bounding_volume / side**3)

    def values(self, seen: Input, network: nn.Module) -> Tensor:
        """What a network says about each object."""
        maps, scalars = (
            torch.from_numpy(each).to(self.device) for each in (seen.maps, seen.scalars)
        )
        with torch.no_grad():
            values: Tensor = network(maps, scalars)
            return values

    def assess(self, unpacked: list[int]) -> tuple[list[int], Input, Any]:
        """The objects to choose from, what they look like and what each is worth."""
        numbers = self.shortlist(unpacked)
        seen = self.look(numbers)
        return numbers, seen, self.values(seen, self.online).cpu().numpy()

    def ahead(self, unpacked: list[int]) -> Ahead:
        """The object that one network would pick next, and what the other says it is worth."""
        numbers = self.shortlist(unpacked)
        seen = self.look(numbers)
        online, target = self.values(seen, self.online), self.values(seen, self.target)
        value = float(target[int(online.argmax().item())].item())
        return Ahead(number=numbers[int(np.argmax(online.cpu().numpy()))], value=value)

    def row(self, seen: Input, place: int) -> tuple[Any, Any]:
        """What was shown of one object, to remember it."""
        return seen.maps[place], seen.scalars[place]

    def follow(self) -> None:
        """Let the target be what the other network is."""
        self.target.load_state_dict(self.online.state_dict())
