"""Rows of a batch, taken apart by compiled code into memory that is there already.

Replaces: observations.observation_of, UpdateInputs.actions
Removes:  a dozen small operations, with memory of their own
Keeps:    every number; what an update makes of it is its own, so the next one may write over it
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from patches.marinenav.batches import Pieces
from patches.marinenav.observations import Observation
from patches.marinenav.rows import ACTION, OBJECT, OBJECTS, OWN, REWARD, SEEN, STATE
from patches.marinenav.step5_merge.compiled_networks.compiled.rows import copy_columns, observe

if TYPE_CHECKING:
    from torch import Tensor

    from patches.marinenav.agents import Notes


def take_apart(notes: Notes, rows: Tensor) -> Pieces:
    """Take rows of transitions ``[B, 78]`` apart."""
    count, numbers = len(rows), rows.numpy()
    actions = notes.kept(("actions", count), lambda: _Actions(count))
    copy_columns(numbers, ACTION, actions.array)
    return Pieces(
        _observed(notes, "states", numbers, 0, 0, count),
        _observed(notes, "next states", numbers, 0, STATE, count),
        actions.tensor,
    )


def take_states_apart(notes: Notes, rows: Tensor) -> tuple[Observation, Observation]:
    """Take rows of states, and of as many next states behind them, apart."""
    count, numbers = len(rows) // 2, rows.numpy()
    return (
        _observed(notes, "states", numbers, 0, 0, count),
        _observed(notes, "next states", numbers, count, 0, count),
    )


def _observed(
    notes: Notes, name: str, rows: Any, first: int, column: int, count: int
) -> Observation:
    room: _Room = notes.kept((name, count), lambda: _Room(count))
    observe(rows, first, column, *room.arrays)
    return room.seen


class _Actions:
    """Memory for actions."""

    def __init__(self, count: int) -> None:
        self.tensor = torch.empty((count, REWARD - ACTION), dtype=torch.float32, device="cpu")
        self.array = self.tensor.numpy()


class _Room:
    """Memory for what robots see."""

    def __init__(self, count: int) -> None:
        own = torch.empty((count, OWN), dtype=torch.float32, device="cpu")
        objects = torch.empty((count, SEEN), dtype=torch.float32, device="cpu")
        absent = torch.empty((count, OBJECTS), dtype=torch.bool, device="cpu")
        self.arrays = own.numpy(), objects.numpy(), absent.numpy()
        self.seen = Observation(own, objects.view(-1, OBJECT), absent.unsqueeze(-1))
