"""Rows of a batch, taken apart by compiled code into memory that is there already, and what they say of values.

Replaces: observations.observation_of, UpdateInputs.actions and action_indices, rewards plus what follows
Removes:  a dozen small operations, with memory of their own
Keeps:    every number; what an update makes of it is its own, so the next one may write over it
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from patches.marinenav.batches import Pieces
from patches.marinenav.observations import Observation
from patches.marinenav.rows import ACTION, OBJECT, OBJECTS, OWN, REWARD, SEEN, STATE
from patches.marinenav.step5_merge.compiled_networks.compiled.rows import (
    copy_columns,
    earn,
    observe,
    pick,
    put,
)

if TYPE_CHECKING:
    from torch import Tensor

    from patches.marinenav.agents import Notes


def take_apart(notes: Notes, rows: Tensor) -> Pieces:
    """Take rows of transitions ``[B, 78]`` apart."""
    count, numbers = len(rows), rows.numpy()
    actions = notes.kept((_Actions, count), lambda: _Actions(count))
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
    room: _Room = notes.kept((_Room, name, count), lambda: _Room(count))
    observe(rows, first, column, *room.arrays)
    return room.seen


def earned(rows: Tensor, values: Tensor, gamma: float, *, rest_first: bool) -> Tensor:
    """Rewards of rows plus what the values ``[B, M]`` that follow are worth."""
    found = torch.empty_like(values)
    earn(rows.numpy(), REWARD, values.numpy(), np.float32(gamma), rest_first, found.numpy())
    return found


def picked(rows: Tensor, values: Tensor) -> Tensor | None:
    """Values ``[B, M, actions]`` of the actions that rows tell of, ``[B, M]``; None if there are no such actions."""
    found = values.new_empty(values.shape[:2])
    return found if pick(rows.numpy(), ACTION, values.numpy(), found.numpy()) else None


def put_back(rows: Tensor, slopes: Tensor, values: Tensor) -> Tensor:
    """Slopes of values for those of the picked ones."""
    found = torch.empty_like(values)
    put(rows.numpy(), ACTION, slopes.numpy(), found.numpy())
    return found


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
