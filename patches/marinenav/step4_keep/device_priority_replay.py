"""Rainbow's memory with its states on the device and its sum tree on the host.

Replaces: policy.agent:ReplayMemory, the class that Rainbow makes its memory from
Removes:  a structured array of transitions on the host, ten uploads per batch
Keeps:    the draws (all of a batch again until it is valid), the tree's float32 sums, windows and their
          blanks, importance weights, priorities; `sample` answers with the same seven things
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from legacy_marinenav.policy.replay_memory_rainbow import (
    ReplayMemory,
    Transition_dtype,
)
from patches.blocks.device_replay import DeviceReplay
from patches.blocks.drawn_batch import Drawn
from patches.blocks.ring import Ring, Storage
from patches.blocks.staging import Slab
from patches.marinenav.observations import as_tensors
from patches.marinenav.rows import OBJECT, OBJECTS, OWN, SEEN, STATE, state_rows
from patches.marinenav.step4_keep.priority_tree import PriorityTree


class DeviceReplayMemory(DeviceReplay, ReplayMemory):
    """The legacy memory's interface over a tree on the host and rows on a device."""

    def __init__(self, device: str, capacity: int) -> None:
        ReplayMemory.__init__(self, device, 1)  # a tree of one: the real one is made here
        DeviceReplay.__init__(self, capacity, STATE, home=device)
        self.transitions: PriorityTree = PriorityTree(capacity)

    def make_storage(self, device: torch.device) -> Storage:
        """Room for the states and, behind them, for a blank one."""
        storage = Ring(self.capacity + 1, STATE, device)
        storage.rows[self.capacity :].zero_()
        return storage

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
        states, actions, rewards, _, dones = zip(*transitions, strict=True)
        state_rows(states, self.waiting_room(len(states)))
        self.admit(len(states))
        timesteps = []
        for done in dones:
            timesteps.append(self.t)
            self.t = 0 if done else self.t + 1
        self.transitions.append_all(timesteps, actions, rewards, [not done for done in dones])

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
        views = slab.open(("batch", device, batch_size, self.n), drawn.sections)
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
        """The structured array that legacy keeps, read back from the device; it cannot be changed."""
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
        found.setflags(write=False)
        return found
