"""Replay of the TorchRL pipeline in TorchRL's own buffer, on the device.

Replaces: torchrl_gpu.torchrl_trainer:TorchRLTrainer.__init__ (moves the agent's empty memory)
Removes:  transitions in Python lists, with step 2 their way from the device to the host and back
Keeps:    the order of transitions and the indices that are drawn; TorchRL's samplers draw from other generators
          and are not asked
"""

from __future__ import annotations

import contextlib
import functools
import logging
from typing import TYPE_CHECKING, Any

import torch
from tensordict import TensorDict  # type: ignore[import-untyped]  # ships no types
from torchrl.data import (  # type: ignore[import-untyped]  # ships no types
    LazyTensorStorage,
    TensorDictReplayBuffer,
)

from legacy_marinenav.torchrl_gpu.torchrl_trainer import TorchRLTrainer
from patches.blocks.ring import parts, require_room
from patches.marinenav.agents import notes_of
from patches.marinenav.rows import ACTION, DONE, REWARD, STATE, TRANSITION
from patches.marinenav.step4_keep.device_priority_replay import DeviceReplayMemory
from patches.marinenav.step4_keep.device_replay import DeviceReplayBuffer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

TRANSITION_FIELDS = {
    "state": slice(0, STATE),
    "next_state": slice(STATE, ACTION),
    "action": slice(ACTION, REWARD),
    "reward": slice(REWARD, DONE),
    "done": slice(DONE, TRANSITION),
}
STATE_FIELDS = {"state": slice(0, STATE)}

_legacy_init = TorchRLTrainer.__init__


class TensorDictStorage:
    """Rows of transitions in a `TensorDictReplayBuffer`, one field per part of a row."""

    def __init__(self, capacity: int, fields: dict[str, slice], device: torch.device) -> None:
        width = max(part.stop for part in fields.values())
        require_room(capacity, width, device)
        self.device = device
        self.capacity = capacity
        self._fields = fields
        self.buffer = TensorDictReplayBuffer(
            storage=LazyTensorStorage(capacity, device=device), batch_size=1
        )

    def write(self, start: int, rows: Tensor) -> None:
        """Put rows from a place on, around the end of the ring if need be."""
        for place, part in parts(start, rows, self.capacity):
            fields = {name: part[:, columns] for name, columns in self._fields.items()}
            # Slices, where the buffer's own writer would send an index tensor to the device.
            with _quiet_first_write(self.buffer.storage):
                self.buffer.storage.set(
                    slice(place, place + len(part)), TensorDict(fields, batch_size=[len(part)])
                )

    def gather(self, slots: Tensor) -> Tensor:
        """Copies of the rows at some places."""
        found = self.buffer.storage.get(slots)
        return torch.cat([found[name] for name in self._fields], 1)


def state_storage(capacity: int, device: torch.device) -> TensorDictStorage:
    """Room for Rainbow's states and, behind them, the blank one.

    It is filled at once: TorchRL counts what was written, and would not hand out a row beyond that count.
    """
    storage = TensorDictStorage(capacity + 1, STATE_FIELDS, device)
    storage.write(0, torch.zeros((1, STATE), device=device).expand(capacity + 1, STATE))
    return storage


@contextlib.contextmanager
def _quiet_first_write(storage: Any) -> Iterator[None]:
    """The storage announces its allocation through torchrl's logger, in the middle of a run's own output."""
    if storage.initialized:
        yield
        return
    logger = logging.getLogger("torchrl")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


@functools.wraps(_legacy_init)
def init_trainer(self: Any, *args: Any, **kwargs: Any) -> None:
    """`TorchRLTrainer.__init__`: move the agent's memory, while it is empty, into TorchRL's buffer."""
    _legacy_init(self, *args, **kwargs)
    agent = self.rl_agent
    notes = notes_of(agent)
    memory = getattr(agent, "memory", None)
    if notes is None or memory is None:
        return
    device = notes.settings.buffer_device or notes.device
    if isinstance(memory, DeviceReplayBuffer) and not memory.size():
        memory.use_storage(TensorDictStorage(memory.capacity, TRANSITION_FIELDS, device))
    elif isinstance(memory, DeviceReplayMemory) and memory.is_empty:
        memory.use_storage(state_storage(memory.capacity, device))
