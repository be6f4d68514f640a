"""Uniform replay whose transitions live on the device; only indices travel when a batch is sampled.

Replaces: policy.agent:ReplayBuffer, the class that agents make their memory from
Removes:  nested lists per transition, list building and nine uploads per batch
Keeps:    Python's generator seeded at construction, the same indices drawn in the same order (item j is the
          j-th oldest, also after wrap-around), values rounded to float32 once; `sample` still answers with lists
"""

from __future__ import annotations

import math
import random
from collections import deque
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from legacy_marinenav.policy.replay_buffer import ReplayBuffer
from patches.device_priority_replay import DeviceReplayMemory
from patches.replacement import Replacement
from patches.ring import Ring, Storage
from patches.rows import (
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
from patches.staging import Section, Slab

if TYPE_CHECKING:
    from torch import Tensor

    from patches.agents import Notes

WAITING_ROOM: Final = 256
"""Transitions that may wait on the host for an upload to ride on."""


class DeviceReplayBuffer(ReplayBuffer):
    """A ring of transitions on a device, with the interface of the legacy buffer.

    New transitions wait on the host for the next decision or update and go up with it. Of each transition the
    host keeps one byte: whether the robot saw any object, because a batch without objects is learnt from
    differently (the encoder of objects gets no gradient).
    """

    def __init__(
        self, buffer_size: int, batch_size: int, obj_len: int, max_object_num: int, seed: int = 249
    ) -> None:
        self.batch_size = batch_size
        self.obj_len = obj_len
        self.max_obj_num = max_object_num
        self._arguments = (buffer_size, batch_size, obj_len, max_object_num, seed)
        self.seed = random.seed(seed)
        self.capacity = buffer_size
        self._total = 0
        self._waiting_count = 0
        self._waiting = np.empty((min(WAITING_ROOM, buffer_size), TRANSITION), dtype=np.float32)
        self._sees = np.zeros(buffer_size, dtype=bool)
        self._storage: Storage | None = None
        self._slab: Slab | None = None
        self._rides = False
        self._is_discrete = False

    def as_legacy(self) -> ReplayBuffer:
        """The buffer that legacy would have made; seeds Python's generator as that does."""
        return ReplayBuffer(*self._arguments)

    def place(self, notes: Notes) -> None:
        """Allocate on the device of the agent, or on the one that was asked for."""
        device = notes.settings.buffer_device or notes.device
        self._storage = Ring(self.capacity, TRANSITION, device)
        self._slab = Slab(device, is_persistent=notes.settings.has(3))
        self._rides = device == notes.device

    @property
    def storage(self) -> Storage:
        """Where the transitions are."""
        if self._storage is None:  # made without an agent
            self._storage = Ring(self.capacity, TRANSITION, torch.device("cpu"))
            self._slab = Slab(self._storage.device, is_persistent=True)
        return self._storage

    def use_storage(self, storage: Storage) -> None:
        """Keep transitions elsewhere from now on; only while there are none."""
        assert self._total == 0, "transitions cannot move"
        self._storage = storage
        if self._slab is None:
            self._slab = Slab(storage.device, is_persistent=True)

    def add(self, item: tuple[Any, ...]) -> None:
        """Store (state, action, reward, next state, done); the oldest transition gives way when full."""
        self.extend([item])

    def extend(self, items: list[tuple[Any, ...]]) -> None:
        """Store transitions in their order."""
        room = len(self._waiting)
        for begin in range(0, len(items), room):
            part = items[begin : begin + room]
            if self._waiting_count + len(part) > room:
                self.flush()
            first = self._waiting_count
            transition_rows(part, self._waiting[first : first + len(part)])
            for seen in sees_objects(part):
                self._sees[self._total % self.capacity] = seen
                self._total += 1
            self._waiting_count += len(part)
            self._is_discrete = not isinstance(part[0][1], (list, tuple, np.ndarray))

    def waiting(self) -> Any:
        """Rows that may ride on an upload to the agent's device; `commit` must follow."""
        return self._waiting[: self._waiting_count if self._rides else 0]

    def commit(self, rows: Tensor) -> None:
        """Take over the waiting rows, which are on the device now."""
        self.storage.write((self._total - self._waiting_count) % self.capacity, rows)
        self._waiting_count = 0

    def flush(self) -> None:
        """Send what waits in an upload of its own."""
        if not self._waiting_count:
            return
        device = self.storage.device  # also makes the slab
        assert self._slab is not None, "a slab comes with the storage"
        shape = (self._waiting_count, TRANSITION)
        views = self._slab.open(("rows", device, shape), lambda: (Section("rows", shape),))
        views.arrays["rows"][:] = self._waiting[: self._waiting_count]
        self.commit(self._slab.send()["rows"])

    def draw(self) -> Any:
        """Places of a batch without repetition, drawn as legacy draws from its deque."""
        size = self.size()
        drawn = np.array(sample_range(size, self.batch_size), dtype=np.int64)
        oldest = self._total % self.capacity if self._total > self.capacity else 0
        return (drawn + oldest) % self.capacity

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
    def memory(self) -> deque[Any]:  # type: ignore[override]  # legacy has a deque here
        """All transitions, oldest first, read back from the device."""
        size = self.size()
        oldest = self._total % self.capacity if self._total > self.capacity else 0
        return deque(self._items((np.arange(size) + oldest) % self.capacity), self.capacity)

    def size(self) -> int:
        """Number of stored transitions."""
        return min(self._total, self.capacity)

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


def sample_range(size: int, count: int) -> list[int]:
    """What ``random.sample(range(size), count)`` draws, in half the time for large sizes."""
    if size <= 21 + 4 ** math.ceil(math.log(max(count, 6) * 3, 4)):
        return random.sample(range(size), count)
    getrandbits, bits = random.getrandbits, size.bit_length()
    drawn: dict[int, None] = {}
    while len(drawn) < count:
        candidate = getrandbits(bits)
        if candidate < size:
            # One that was drawn before is drawn again, as the library does it.
            drawn[candidate] = None
    return list(drawn)


def make_buffer(
    buffer_size: int, batch_size: int, obj_len: int, max_object_num: int, seed: int = 249
) -> ReplayBuffer:
    """The device buffer, or the legacy one for objects of another size than rows have."""
    is_usual = (obj_len, max_object_num) == (OBJECT, OBJECTS)
    make = DeviceReplayBuffer if is_usual else ReplayBuffer
    return make(buffer_size, batch_size, obj_len, max_object_num, seed)


_AGENT = "legacy_marinenav.policy.agent"

REPLACEMENTS = (
    Replacement(_AGENT, "ReplayBuffer", make_buffer),
    Replacement(_AGENT, "ReplayMemory", DeviceReplayMemory),
)
