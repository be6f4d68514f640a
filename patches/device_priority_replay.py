"""Rainbow's memory with its states on the device and its sum tree on the host.

Replaces: policy.agent:ReplayMemory, the class that Rainbow makes its memory from
Removes:  a structured array of transitions on the host, ten uploads per batch
Keeps:    the draws (all of a batch again until it is valid), the tree's float32 sums, windows and their
          blanks, importance weights, priorities; `sample` answers with the same seven things
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from legacy_marinenav.policy.replay_memory_rainbow import (
    ReplayMemory,
    Transition_dtype,
)
from patches.priority_tree import PriorityTree
from patches.ring import Ring, Storage
from patches.rows import OBJECT, OBJECTS, OWN, SEEN, STATE, state_rows
from patches.staging import Section, Slab

if TYPE_CHECKING:
    from torch import Tensor

    from patches.agents import Notes

WAITING_ROOM = 256


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

    def sections(self) -> tuple[Section, ...]:
        """What the device needs to know."""
        return (
            Section("slots", self.slots.shape, torch.int64),
            Section("actions", self.actions.shape, torch.int64),
            Section("rewards", self.rewards.shape),
            Section("nonterminals", self.nonterminals.shape),
            Section("weights", self.weights.shape),
        )

    def write(self, arrays: dict[str, Any]) -> None:
        """Fill the sections."""
        for name in ("slots", "actions", "rewards", "nonterminals", "weights"):
            arrays[name][:] = getattr(self, name)


class DeviceReplayMemory(ReplayMemory):
    """The legacy memory's interface over a tree on the host and rows on a device."""

    def __init__(self, device: str, capacity: int) -> None:
        super().__init__(device, 1)  # a tree of one: the real one is made here
        self.capacity = capacity
        self.transitions: PriorityTree = PriorityTree(capacity)
        self._waiting_count = 0
        self._written = 0
        self._waiting = np.empty((min(WAITING_ROOM, capacity), STATE), dtype=np.float32)
        self._storage: Storage | None = None
        self._slab: Slab | None = None
        self._rides = False

    def place(self, notes: Notes) -> None:
        """Allocate on the device of the agent, or on the one that was asked for."""
        self._make(notes.settings.buffer_device or notes.device, notes.settings.has(3))
        self._rides = self.storage.device == notes.device

    def _make(self, device: torch.device, is_persistent: bool) -> None:
        storage = Ring(self.capacity + 1, STATE, device)
        storage.rows[self.capacity :].zero_()
        self._storage = storage
        self._slab = Slab(device, is_persistent=is_persistent)

    @property
    def storage(self) -> Storage:
        """Where the states are."""
        if self._storage is None:
            self._make(torch.device(self.device), is_persistent=True)
        assert self._storage is not None, "just made"
        return self._storage

    def use_storage(self, storage: Storage) -> None:
        """Keep states elsewhere from now on; only while there are none."""
        assert self.is_empty, "states cannot move"
        self._storage = storage
        if self._slab is None:
            self._slab = Slab(storage.device, is_persistent=True)

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been stored yet."""
        return self.transitions.index == 0 and not self.transitions.full

    def append(self, state: Any, action: int, reward: float, terminal: bool) -> None:
        """Store a transition with the highest priority seen so far."""
        self.extend([(state, action, reward, None, terminal)])

    def extend(self, transitions: list[tuple[Any, ...]]) -> None:
        """Store (state, action, reward, ignored, done) in their order."""
        room = len(self._waiting)
        for begin in range(0, len(transitions), room):
            self._extend(transitions[begin : begin + room])

    def _extend(self, transitions: list[tuple[Any, ...]]) -> None:
        if self._waiting_count + len(transitions) > len(self._waiting):
            self.flush()
        states, actions, rewards, _, dones = zip(*transitions, strict=True)
        first = self._waiting_count
        state_rows(states, self._waiting[first : first + len(states)])
        self._waiting_count += len(states)
        timesteps = []
        for done in dones:
            timesteps.append(self.t)
            self.t = 0 if done else self.t + 1
        self.transitions.append_all(timesteps, actions, rewards, [not done for done in dones])

    def waiting(self) -> Any:
        """Rows that may ride on an upload to the agent's device; `commit` must follow."""
        return self._waiting[: self._waiting_count if self._rides else 0]

    def commit(self, rows: Tensor) -> None:
        """Take over the waiting rows, which are on the device now."""
        room = self.capacity - self._written
        self.storage.write(self._written, rows[:room])
        if len(rows) > room:
            self.storage.write(0, rows[room:])
        self._written = (self._written + len(rows)) % self.capacity
        self._waiting_count = 0

    def flush(self) -> None:
        """Send what waits in an upload of its own."""
        if not self._waiting_count:
            return
        device = self.storage.device  # also makes the slab
        assert self._slab is not None, "a slab comes with the storage"
        shape = (self._waiting_count, STATE)
        views = self._slab.open(("rows", device, shape), lambda: (Section("rows", shape),))
        views.arrays["rows"][:] = self._waiting[: self._waiting_count]
        self.commit(self._slab.send()["rows"])

    def draw(self, batch_size: int) -> Drawn:
        """Draw a batch by priority and work out its windows on the host."""
        tree = self.transitions
        total = tree.total()
        priorities, data_indices, tree_indices = self._draw_valid(batch_size, total)
        windows = (data_indices[:, None] + np.arange(self.n + 1)) % self.capacity
        starts_episode = tree.timestep[windows] == 0
        starts_episode[:, 0] = False
        is_blank = np.logical_or.accumulate(starts_episode, axis=1)

        rewards = tree.reward[windows[:, : self.n]]
        rewards[is_blank[:, : self.n]] = 0.0
        last = windows[:, self.n]
        is_gone = is_blank[:, self.n]
        slots = np.concatenate((windows[:, 0], np.where(is_gone, self.capacity, last)))
        nonterminals = np.where(is_gone, False, tree.nonterminal[last])[:, None]

        stored = self.capacity if tree.full else tree.index
        weights = (stored * (priorities / total)) ** -self.priority_weight
        return Drawn(
            tree_indices,
            slots,
            tree.action[windows[:, 0]],
            rewards,
            nonterminals,
            weights / weights.max(),
        )

    def sample(self, batch_size: int) -> tuple[Any, ...]:
        """A batch as the legacy memory hands it out, gathered on the device in one upload."""
        drawn = self.draw(batch_size)
        self.flush()
        device = self.storage.device
        slab = Slab(device, is_persistent=False) if self._slab is None else self._slab
        views = slab.open(("batch", device, batch_size), drawn.sections)
        drawn.write(views.arrays)
        sent = slab.send()
        rows = self.storage.gather(sent["slots"])
        # The next batch is written to the same memory, and callers may keep theirs.
        actions, rewards, nonterminals, weights = (
            sent[name].to(self.device, copy=True)
            for name in ("actions", "rewards", "nonterminals", "weights")
        )
        states, next_states = (
            as_tensors(part.to(self.device)) for part in (rows[:batch_size], rows[batch_size:])
        )
        returns = torch.matmul(rewards, self.n_step_scaling)
        return (
            drawn.tree_indices,
            states,
            actions,
            returns,
            next_states,
            nonterminals,
            weights,
        )

    @property
    def data(self) -> Any:
        """The structured array that legacy keeps, read back from the device."""
        self.flush()
        tree = self.transitions
        found = np.zeros(self.capacity, dtype=Transition_dtype)
        stored = self.capacity if tree.full else tree.index
        places = torch.arange(stored, device=self.storage.device)
        rows = self.storage.gather(places).cpu().numpy()
        found["self_state"][:stored] = rows[:, :OWN]
        objects = rows[:, OWN : OWN + SEEN].reshape(-1, OBJECTS, OBJECT)
        found["object_states"][:stored] = objects
        found["object_state_masks"][:stored] = rows[:, OWN + SEEN :]
        for name in ("timestep", "action", "reward", "nonterminal"):
            found[name] = getattr(tree, name)
        return found


def as_tensors(rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Own states, objects and masks of rows, as the legacy networks take them."""
    objects = rows[:, OWN : OWN + SEEN].contiguous().view(-1, OBJECTS, OBJECT)
    return rows[:, :OWN].contiguous(), objects, rows[:, OWN + SEEN : STATE].contiguous()
