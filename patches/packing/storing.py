"""What the worker did, on its way to its memory.

Replaces: syncprobe.workloads.packing.training:Trainer.remember
Removes:  with step 1 the read of what is to be had next, which comes with the map; with step 4 that of the map
Keeps:    what is remembered, bit for bit
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from patches.packing.notes import TRAINER, notes_of
from patches.replacement import Replacement
from syncprobe.workloads.packing.replay import Memory

if TYPE_CHECKING:
    from syncprobe.workloads.packing.box import Placed, Placement
    from syncprobe.workloads.packing.training import Trainer


def remember(
    self: Trainer, placement: Placement, placed: Placed, reward: Any, ahead: Any, is_done: bool
) -> None:
    """Keep what the worker did."""
    maps: Any = placement.maps
    if not notes_of(self.items).has(4):
        if isinstance(ahead, torch.Tensor):
            both = torch.cat([maps.flatten(), ahead.view(1)]).cpu().numpy()
            maps, ahead = both[:-1].reshape(maps.shape), float(both[-1])
        else:
            maps = maps.cpu().numpy()
    self.worker_learner.remember(
        Memory(
            maps=maps,
            scalars=self.worker.scalars(placement, placed),
            reward=reward,
            ahead=ahead,
            is_done=is_done,
        )
    )


ROWS = (Replacement(TRAINER, "remember", remember),)
