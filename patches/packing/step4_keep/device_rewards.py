"""Rewards and losses stay on the device until an episode is over.

Replaces: syncprobe.workloads.packing.box:Box.reward; syncprobe.workloads.packing.replay:Learner.noted;
          syncprobe.workloads.packing.training:Trainer.read
Removes:  a copy of the height map per step, a read per loss
Keeps:    rewards to the last bit: heights are single, sums of them in double precision are exact in any order
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from patches.packing.notes import notes_of
from syncprobe.workloads.packing.box import OCCUPIED, Metrics
from syncprobe.workloads.packing.config import PackingError

if TYPE_CHECKING:
    from torch import Tensor

    from syncprobe.workloads.packing.box import Box
    from syncprobe.workloads.packing.replay import Learner
    from syncprobe.workloads.packing.training import Trainer


def reward(self: Box, number: int) -> Tensor:
    """What the last placement was worth."""
    before, grown = self.metrics, self.items.objects[number].volume
    self.volume += grown
    after = self.metrics = _measured(self)
    gains = ((later - earlier).clamp(min=0) for later, earlier in zip(after, before, strict=True))
    compactness, pyramidality, growth = gains
    # Divided by a tensor: by a number, CUDA multiplies with its inverse.
    side = torch.full_like(growth, self.options.side)
    worth: Tensor = (
        1.0 * (grown > 1e-9)
        + 0.4 * compactness
        + 0.4 * pyramidality
        + 0.2 * after.objective
        - 0.1 * (growth / side)
    )
    return worth


def _measured(box: Box) -> Metrics:
    """How well the box is filled; the formula is the host's."""
    heights, area = box.heights.double(), box.options.cell**2
    rows, columns = (_extent((box.heights > OCCUPIED).any(axis)) for axis in (1, 0))
    top, volume = heights.amax(), torch.full_like(heights[0, 0], box.volume)
    compactness = volume / ((rows * columns).double() * area * top)
    pyramidality = volume / (heights.sum() * area)
    return Metrics(
        compactness=compactness.clamp(max=1), pyramidality=pyramidality.clamp(max=1), top=top
    )


def _extent(occupied: Tensor) -> Tensor:
    """From the first that is occupied to the last."""
    places = torch.arange(len(occupied), device=occupied.device)
    last = torch.where(occupied, places, -1).amax()
    return last - torch.where(occupied, places, len(occupied)).amin() + 1


def noted(_self: Learner, loss: Tensor) -> Tensor:
    """A loss for the log, which is in no hurry; double, because numbers of the host are."""
    return loss.detach().double()


def read(self: Trainer, *values: list[Any]) -> tuple[list[float], ...]:
    """What the log needs of an episode, and whether objects were where they can be, in one read."""
    notes = notes_of(self.items)
    checks = notes.scene.pop("checks", [])
    flat = [each for group in (*values, checks) for each in group]
    waiting = [each for each in flat if isinstance(each, torch.Tensor)]
    found = iter(())
    if waiting:
        packed = torch.stack([each.double() for each in waiting])
        found = iter(notes.read_back.read(packed).tolist())
    numbers = [next(found) if isinstance(each, torch.Tensor) else float(each) for each in flat]
    if not all(numbers[len(numbers) - len(checks) :]):
        raise PackingError("An object touched nothing, or was inside of another.")
    rest = iter(numbers)
    return tuple([next(rest) for _ in group] for group in values)
