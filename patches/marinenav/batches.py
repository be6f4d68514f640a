"""Everything an update needs from the host, in one upload: indices (or transitions), noise, waiting rows."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from patches.blocks.device_replay import DeviceReplay
from patches.blocks.staging import Key, Segment, Views
from patches.marinenav.agents import waiting_rows
from patches.marinenav.observations import Observation, observation_of
from patches.marinenav.rows import (
    ACTION,
    DONE,
    REWARD,
    STATE,
    TRANSITION,
    sees_objects,
    transition_rows,
)

if TYPE_CHECKING:
    from patches.marinenav.agents import Notes

NUM_TAU = 8
Noise = Callable[[], list[Segment]]


class Pieces(NamedTuple):
    """Rows that were taken apart, in memory that the next update writes to."""

    states: Observation
    next_states: Observation
    actions: Tensor


class UpdateInputs(NamedTuple):
    """A batch of uniform replay on the device, with the noise of the update."""

    rows: Tensor
    """``[B, 78]``."""
    sees_any: bool
    """Whether any robot of the batch saw an object before it acted."""
    fractions: tuple[Tensor, ...]
    """``[B, 8, 1]`` for each forward that wants some."""
    normals: tuple[Tensor, ...]
    """``[B, 2]`` for each forward that wants some."""
    pieces: Pieces | None = None
    """What the rows are made of, if somebody took them apart already."""

    def states(self) -> Observation:
        """What the robots saw."""
        if self.pieces is not None and self.sees_any:
            return self.pieces.states
        return observation_of(self.rows[:, :STATE], self.sees_any)

    def next_states(self) -> Observation:
        """What they saw next; without gradients, nothing at all and all masked give the same bits."""
        if self.pieces is not None:
            return self.pieces.next_states
        return observation_of(self.rows[:, STATE:ACTION], has_objects=True)

    def actions(self) -> Tensor:
        """Real-valued actions ``[B, 2]``."""
        if self.pieces is not None:
            return self.pieces.actions
        return self.rows[:, ACTION:REWARD].contiguous()

    def action_indices(self) -> Tensor:
        """Action indices ``[B, 1]``."""
        return self.rows[:, ACTION : ACTION + 1].to(torch.int64)

    def rewards(self) -> Tensor:
        """``[B, 1]``."""
        return self.rows[:, REWARD:DONE]

    def dones(self) -> Tensor:
        """``[B, 1]``, 1 where the episode ended."""
        return self.rows[:, DONE:]


def draw_inputs(agent: Any, notes: Notes, *, fractions: int = 0, normals: int = 0) -> UpdateInputs:
    """Draw a batch and the noise of an update on the host and send both at once."""
    memory = agent.memory
    batch = memory.batch_size

    def noise() -> list[Segment]:
        return [
            Segment("fractions", (fractions, batch, NUM_TAU, 1)),
            Segment("normals", (normals, batch, 2)),
        ]

    key = (batch, fractions, normals)
    if isinstance(memory, DeviceReplay):
        rows, sees_any, sent = _from_device(agent, notes, memory, key, noise)
    else:
        rows, sees_any, sent = _from_lists(notes, memory, key, noise)
    return UpdateInputs(rows, sees_any, sent["fractions"].unbind(), sent["normals"].unbind())


def _from_device(
    agent: Any, notes: Notes, memory: Any, key: Key, noise: Noise
) -> tuple[Tensor, bool, dict[str, Tensor]]:
    slots = memory.draw()
    pending = waiting_rows(agent)
    views = notes.update.open(
        ("slots", key, pending.shape),
        lambda: (
            Segment("slots", slots.shape, torch.int64),
            *noise(),
            Segment("pending", pending.shape),
        ),
    )
    views.arrays["slots"][:] = slots
    _draw_noise(views)
    if len(pending):
        views.arrays["pending"][:] = pending
    sent = notes.update.send()
    if len(pending):
        memory.commit(sent["pending"])
    memory.flush()  # what could not ride, because the memory is on another device
    device = memory.storage.device
    rows = memory.storage.gather(sent["slots"].to(device)).to(notes.device)
    return rows, memory.sees_any(slots), sent


def _from_lists(
    notes: Notes, memory: Any, key: Key, noise: Noise
) -> tuple[Tensor, bool, dict[str, Tensor]]:
    items = random.sample(memory.memory, k=memory.batch_size)
    views = notes.update.open(
        ("rows", key), lambda: (Segment("rows", (len(items), TRANSITION)), *noise())
    )
    transition_rows(items, views.arrays["rows"])
    _draw_noise(views)
    sent = notes.update.send()
    return sent["rows"], any(sees_objects(items)), sent


def _draw_noise(views: Views) -> None:
    """Fractions of all forwards in one draw; normals forward by forward, as merging them changes them."""
    fractions = views.host["fractions"]
    if fractions.numel():
        torch.rand(fractions.shape, out=fractions)
    for normals in views.host["normals"].unbind():
        normals.normal_()
