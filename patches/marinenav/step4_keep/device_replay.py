"""Uniform replay whose transitions live on the device; only indices travel when a batch is sampled.

Replaces: policy.agent:ReplayBuffer, the class that agents make their memory from
Removes:  nested lists per transition, list building and nine uploads per batch
Keeps:    Python's generator seeded at construction, the same indices drawn in the same order (item j is the
          j-th oldest, also after wrap-around), values rounded to float32 once; `sample` still answers with lists
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from legacy_marinenav.policy.replay_buffer import ReplayBuffer
from patches.blocks.device_replay import DeviceReplay
from patches.blocks.read_back import ReadBackDeque
from patches.errors import CopyOfReplayError, UnusualReplayError
from patches.marinenav.rows import (
    ACTION,
    DONE,
    OBJECT,
    OBJECTS,
    REWARD,
    STATE,
    TRANSITION,
    as_state,
    sees_objects,
    transition_rows,
)

if TYPE_CHECKING:
    from collections import deque


class DeviceReplayBuffer(DeviceReplay, ReplayBuffer):
    """A ring of transitions on a device, with the interface of the legacy buffer.

    New transitions wait on the host for the next decision or update and go up with it. Of each transition the
    host keeps one byte: whether the robot saw any object, because a batch without objects is learnt from
    differently (the encoder of objects gets no gradient).
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """The legacy buffer for objects of another size than rows have.

        A class, because programs inherit from what they find under the legacy name.
        """
        if cls is DeviceReplayBuffer and (args or kwargs):  # a copy is made without
            legacy = ReplayBuffer(*args, **kwargs)
            if not _are_usual(legacy.obj_len, legacy.max_obj_num):
                return legacy
        return super().__new__(cls)

    def __init__(
        self, buffer_size: int, batch_size: int, obj_len: int, max_object_num: int, seed: int = 249
    ) -> None:
        if not _are_usual(obj_len, max_object_num):
            raise UnusualReplayError(type(self).__qualname__, obj_len, max_object_num)
        DeviceReplay.__init__(self, buffer_size, TRANSITION)
        self.batch_size = batch_size
        self.obj_len = obj_len
        self.max_obj_num = max_object_num
        self._arguments = (buffer_size, batch_size, obj_len, max_object_num, seed)
        self.seed = random.seed(seed)
        self._sees = np.zeros(buffer_size, dtype=bool)
        self._is_discrete = False

    def as_legacy(self) -> ReplayBuffer:
        """The buffer that legacy would have made; seeds Python's generator as that does."""
        return ReplayBuffer(*self._arguments)

    def add(self, item: tuple[Any, ...]) -> None:
        """Store (state, action, reward, next state, done); the oldest transition gives way when full."""
        self.extend([item])

    def extend(self, items: list[tuple[Any, ...]]) -> None:
        """Store transitions in their order."""
        room = len(self._waiting)
        for begin in range(0, len(items), room):
            part = items[begin : begin + room]
            transition_rows(part, self.waiting_room(len(part)))
            for number, seen in enumerate(sees_objects(part), self.total):
                self._sees[number % self.capacity] = seen
            self.admit(len(part))
            self._is_discrete = not isinstance(part[0][1], (list, tuple, np.ndarray))

    def draw(self) -> Any:
        """Places of a batch without repetition, drawn as legacy draws from its deque."""
        return self.draw_places(self.batch_size)

    def sees_any(self, slots: Any) -> bool:
        """Whether any robot of a batch saw an object."""
        return bool(self._sees[slots].any())

    def sample(self) -> tuple[Any, list[Any], list[float], Any, list[bool]]:
        """A batch as nested Python lists, read back from the device; patched updates use `draw` instead."""
        slots = self.draw()
        states, actions, rewards, next_states, dones = zip(*self._items(slots), strict=True)
        return (
            self.state_batch(list(states)),
            list(actions),
            list(rewards),
            self.state_batch(list(next_states)),
            list(dones),
        )

    @property
    def memory(self) -> deque[Any]:
        """All transitions, oldest first, read back from the device."""
        return ReadBackDeque(self._items(self.places_of(np.arange(self.size()))), self.capacity)

    @memory.setter
    def memory(self, _: object) -> None:
        raise CopyOfReplayError

    def _items(self, slots: Any) -> list[tuple[Any, ...]]:
        self.flush()
        places = torch.from_numpy(slots).to(self.storage.device)
        found = []
        for row in self.storage.gather(places).cpu().numpy():
            action = row[ACTION:REWARD].tolist()
            found.append(
                (
                    as_state(row[:STATE]),
                    int(action[0]) if self._is_discrete else action,
                    float(row[REWARD]),
                    as_state(row[STATE:ACTION]),
                    bool(row[DONE]),
                )
            )
        return found


def _are_usual(length: int, count: int) -> bool:
    """Whether rows have room for so many objects of so many numbers."""
    return (length, count) == (OBJECT, OBJECTS)
