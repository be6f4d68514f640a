"""The box: a height map that objects are put on, and what putting one there is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import torch

from syncprobe.workloads.packing.config import PackingError

if TYPE_CHECKING:
    from torch import Tensor

    from syncprobe.workloads.packing.catalogue import Angles
    from syncprobe.workloads.packing.config import PackingOptions
    from syncprobe.workloads.packing.items import ItemMaps, Items

TOLERANCE: Final = 1e-6
OCCUPIED: Final = 1e-8
"""Cells that are higher count as occupied."""


@dataclass(kw_only=True)
class Placement:
    """Where an object is to go."""

    number: int
    """Of the object."""
    orientation: int
    """Place in the list of orientations."""
    angles: Angles
    item: ItemMaps
    x: int
    y: int
    z: Any
    """A number, or still on the device."""
    turned: Tensor
    """The angles on the device."""
    maps: Tensor
    """What the worker saw when it decided."""


class Placed(NamedTuple):
    """Where an object went."""

    x: int
    y: int
    z: float


class Metrics(NamedTuple):
    """How well the box is filled."""

    compactness: Any = 0.0
    pyramidality: Any = 0.0
    top: Any = 0.0
    """The highest point."""

    @property
    def objective(self) -> Any:
        """Both in one number."""
        return 0.5 * self.compactness + 0.3 * self.pyramidality


class Box:
    """A cube seen from above."""

    def __init__(self, options: PackingOptions, items: Items) -> None:
        self.options = options
        self.items = items
        self.device = items.device
        self.begin()

    def begin(self) -> None:
        """Empty the box."""
        size = self.options.resolution
        self.heights = torch.zeros(size, size, device=self.device)
        self.top = 0.0
        self.volume = 0.0
        self.metrics = Metrics()

    def action_of(self, placement: Placement) -> Tensor:
        """A placement as the box is told of it: position and angles."""
        is_known = isinstance(placement.z, float)
        numbers = [float(placement.x), float(placement.y), placement.z if is_known else 0.0]
        position = torch.tensor(numbers, device=self.device)
        if not is_known:
            position[2] = placement.z
        return torch.cat([position, placement.turned])

    def place(self, placement: Placement) -> Placed:
        """Put an object where it is to go."""
        return self.step(placement.number, self.action_of(placement))

    def step(self, number: int, action: Tensor) -> Placed:
        """Check an action, then put the object there.

        Raises:
            PackingError: It cannot go there.
        """
        if not torch.isfinite(action).all().item():
            raise PackingError("An action has to be finite.")
        angles = tuple(action[3:].cpu().numpy().tolist())
        item = self.items.maps(number, angles)
        size = self.options.resolution
        if not (0 <= action[0].item() <= size - item.width):
            raise PackingError("The object is outside of the box.")
        if not (0 <= action[1].item() <= size - item.depth):
            raise PackingError("The object is outside of the box.")
        x, y, z = int(action[0].item()), int(action[1].item()), float(action[2].item())
        below = self.heights[x : x + item.width, y : y + item.depth]
        required = (below - item.bottom).amax()
        if not torch.isfinite(required).item():
            raise PackingError("The object touches nothing.")
        if z < required.item() - TOLERANCE:
            raise PackingError("The object is inside of another.")
        self.put(item, x, y, z)
        self.top = float(self.heights.amax().item())
        return Placed(x, y, z)

    def put(self, item: ItemMaps, x: int, y: int, z: Any) -> None:
        """Raise the cells under an object to its upper side."""
        below = self.heights[x : x + item.width, y : y + item.depth]
        raised = torch.where(item.top > 0, item.top + z, 0.0)
        self.heights[x : x + item.width, y : y + item.depth] = torch.maximum(raised, below)

    def reward(self, number: int) -> Any:
        """What the last placement was worth."""
        before, grown = self.metrics, self.items.objects[number].volume
        self.volume += grown
        self.metrics = measured(self.heights.cpu().numpy(), self.volume, self.options)
        return worth(before, self.metrics, grown, self.options.side)


def measured(heights: Any, volume: float, options: PackingOptions) -> Metrics:
    """How well a box is filled, in double precision from its height map."""
    exact = heights.astype(np.float64)
    rows, columns = (np.flatnonzero((heights > OCCUPIED).any(axis)) for axis in (1, 0))
    if not len(rows):
        return Metrics()
    cells = float((rows[-1] - rows[0] + 1) * (columns[-1] - columns[0] + 1))
    top, area = float(exact.max()), options.cell**2
    return Metrics(
        compactness=min(1.0, volume / (cells * area * top)),
        pyramidality=min(1.0, volume / (float(exact.sum()) * area)),
        top=top,
    )


def worth(before: Metrics, after: Metrics, grown: float, side: float) -> float:
    """The reward of a placement."""
    return float(
        1.0 * (grown > 1e-9)
        + 0.4 * max(0.0, after.compactness - before.compactness)
        + 0.4 * max(0.0, after.pyramidality - before.pyramidality)
        + 0.2 * after.objective
        - 0.1 * max(0.0, (after.top - before.top) / side)
    )
