"""The worker: finds all places for an object, scores them, picks one, and says what is to be had next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from syncprobe.workloads.packing.box import TOLERANCE, Placement
from syncprobe.workloads.packing.catalogue import orientations
from syncprobe.workloads.packing.networks import WorkerNetwork

if TYPE_CHECKING:
    from torch import Tensor, nn

    from syncprobe.workloads.packing.box import Box, Placed
    from syncprobe.workloads.packing.config import PackingOptions
    from syncprobe.workloads.packing.items import ItemMaps, Items


@dataclass(frozen=True, eq=False, kw_only=True)
class Candidate:
    """An object in one orientation, and where it can go."""

    orientation: int
    item: ItemMaps
    legal: Tensor
    """Whether it can go there, for every cell of the box."""
    rests: Tensor
    """How high it would rest there."""
    angles: Tensor


@dataclass(kw_only=True)
class Candidates:
    """An object in all orientations in which there is room for it."""

    number: int
    entries: list[Candidate]


class Worker:
    """Two networks and the box they look into."""

    def __init__(self, options: PackingOptions, items: Items, box: Box) -> None:
        self.options = options
        self.items = items
        self.box = box
        self.device = items.device
        self.orientations = orientations(options.orientation_step)
        self.online = WorkerNetwork(options.network).to(self.device).eval()
        self.target = WorkerNetwork(options.network).to(self.device).eval()
        self.target.load_state_dict(self.online.state_dict())

    def candidates(self, number: int) -> Candidates:
        """All orientations in which there is room for an object."""
        kept = []
        for orientation in range(len(self.orientations)):
            candidate = self.candidate(number, orientation)
            if candidate.legal.any().item():
                kept.append(candidate)
        return Candidates(number=number, entries=kept)

    def candidate(self, number: int, orientation: int) -> Candidate:
        """One orientation."""
        item = self.items.maps(number, self.orientations[orientation])
        rests = self.resting(item)
        is_low = rests + item.top.amax() <= self.options.side + TOLERANCE
        return Candidate(
            orientation=orientation,
            item=item,
            legal=self.spread(item, is_low, is_low.new_zeros(())),
            rests=self.spread(item, rests, rests.new_zeros(())),
            angles=self.angles_of(orientation),
        )

    def resting(self, item: ItemMaps) -> Tensor:
        """How high an object rests at each place of the grid: where its lower side first touches."""
        step = self.options.grid_step
        windows = self.box.heights.unfold(0, item.width, step).unfold(1, item.depth, step)
        return (windows - item.bottom).amax((2, 3))

    def spread(self, item: ItemMaps, values: Tensor, empty: Tensor) -> Tensor:
        """Values at the places of the grid, on a map of all cells."""
        size = self.options.resolution
        canvas = empty.expand(size, size).clone()
        rows, columns = self.places(item.width), self.places(item.depth)
        canvas[rows[:, None], columns] = values
        return canvas

    def places(self, extent: int) -> Tensor:
        """Where an object of some extent can begin, along one axis."""
        return torch.from_numpy(grid_places(self.options, extent)).to(self.device)

    def angles_of(self, orientation: int) -> Tensor:
        """The angles of an orientation, on the device."""
        return torch.tensor(self.orientations[orientation], device=self.device)

    def maps_of(self, item: ItemMaps) -> Tensor:
        """What the network is shown: the box, and the object in the middle of nothing."""
        box = (self.box.heights / self.options.side).clamp(0, 1)
        bottom = torch.where(torch.isinf(item.bottom), 0.0, item.bottom)
        return torch.stack([box, self.centred(item, item.top), self.centred(item, bottom)])

    def centred(self, item: ItemMaps, heights: Tensor) -> Tensor:
        """A map of an object in the middle of an empty one."""
        size = self.options.resolution
        canvas = torch.zeros(size, size, device=self.device)
        x, y = (size - item.width) // 2, (size - item.depth) // 2
        canvas[x : x + item.width, y : y + item.depth] = heights / self.options.side
        return canvas.clamp(0, 1)

    def scores(self, candidates: Candidates, network: nn.Module) -> list[Tensor]:
        """What a network says about every cell, orientation by orientation."""
        with torch.no_grad():
            return [
                network(self.maps_of(each.item).unsqueeze(0)).squeeze(0)
                for each in candidates.entries
            ]

    def select(self, candidates: Candidates, generator: Any, chance: float) -> Placement | None:
        """Where to put the object; None if there is no room."""
        if not candidates.entries:
            return None
        if generator.random() < chance:
            return self.explore(candidates, generator)
        return self.exploit(candidates)

    def explore(self, candidates: Candidates, generator: Any) -> Placement:
        """A place that chance picks."""
        chosen = candidates.entries[int(generator.integers(0, len(candidates.entries)))]
        cells = chosen.legal.nonzero()
        cell = cells[int(generator.integers(0, len(cells)))]
        x, y = int(cell[0].item()), int(cell[1].item())
        return self.placement(candidates, chosen, x, y, chosen.rests[x, y])

    def exploit(self, candidates: Candidates) -> Placement:
        """The place with the highest score; the first one of equals."""
        chosen, cell = self.best(candidates, self.scores(candidates, self.online))
        x, y = divmod(cell, self.options.resolution)
        entry = candidates.entries[chosen]
        return self.placement(candidates, entry, x, y, float(entry.rests[x, y].item()))

    def best(self, candidates: Candidates, scores: list[Tensor]) -> tuple[int, int]:
        """The orientation and the cell with the highest score."""
        highest, found = -math.inf, (0, 0)
        for place, (entry, each) in enumerate(zip(candidates.entries, scores, strict=True)):
            allowed = each.masked_fill(~entry.legal, -math.inf)
            score, cell = allowed.max().item(), int(allowed.argmax().item())
            if score > highest:
                highest, found = score, (place, cell)
        return found

    def placement(
        self, candidates: Candidates, entry: Candidate, x: int, y: int, z: Any
    ) -> Placement:
        """A choice, with what was seen when it was made."""
        return Placement(
            number=candidates.number,
            orientation=entry.orientation,
            angles=self.orientations[entry.orientation],
            item=entry.item,
            x=x,
            y=y,
            z=z,
            turned=entry.angles,
            maps=self.maps_of(entry.item),
        )

    def ahead(self, candidates: Candidates) -> Any:
        """What the best place for the next object is worth, chosen by one network, valued by the other."""
        if not candidates.entries:
            return 0.0
        online = self.scores(candidates, self.online)
        target = self.scores(candidates, self.target)
        chosen, cell = self.best(candidates, online)
        return float(target[chosen].flatten()[cell].item())

    def scalars(self, placement: Placement, placed: Placed) -> Any:
        """A placement in numbers, for training."""
        size = self.options.resolution
        item, waves = placement.item, (math.sin, math.cos)
        turned = (wave(angle) for angle in placement.angles for wave in waves)
        position = placed.x / size, placed.y / size, placed.z / self.options.side
        return np.array([*position, item.width / size, item.depth / size, *turned], np.float32)

    def follow(self) -> None:
        """Let the target be what the other network is."""
        self.target.load_state_dict(self.online.state_dict())


def grid_places(options: PackingOptions, extent: int) -> Any:
    """Where an object of some extent can begin, along one axis, on the host."""
    return np.arange(0, options.resolution - extent + 1, options.grid_step)
