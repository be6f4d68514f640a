"""A batch that was drawn by priority, before it is sent to the device."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from patches.blocks.staging import Segment


class Drawn(NamedTuple):
    """A batch as the host knows it; states are still places in the ring."""

    tree_indices: Any
    slots: Any
    """Places of the states, then of the next states; a blank one is the row behind the ring."""
    actions: Any
    rewards: Any
    """``[B, n]``."""
    nonterminals: Any
    weights: Any

    def sections(self) -> tuple[Segment, ...]:
        """What the device needs to know."""
        return (
            Segment("slots", self.slots.shape, torch.int64),
            Segment("actions", self.actions.shape, torch.int64),
            Segment("rewards", self.rewards.shape),
            Segment("nonterminals", self.nonterminals.shape),
            Segment("weights", self.weights.shape),
        )

    def write(self, arrays: dict[str, Any]) -> None:
        """Fill the sections."""
        for name in ("slots", "actions", "rewards", "nonterminals", "weights"):
            arrays[name][:] = getattr(self, name)
