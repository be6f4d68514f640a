"""Prioritised n-step replay of Rainbow: a sum tree over a structured array."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from legacy_marinenav.errors import ReplaySamplingError
from legacy_marinenav.policy.networks.padding import RobotState, batch_states, pad_objects

SELF_DIMENSION = 7
OBJECT_DIMENSION = 5
MAX_OBJECT_NUM = 5
MAX_SAMPLING_ATTEMPTS = 10_000

Transition_dtype = np.dtype(
    [
        ("timestep", np.int32),
        ("self_state", np.float32, (SELF_DIMENSION,)),
        ("object_states", np.float32, (MAX_OBJECT_NUM, OBJECT_DIMENSION)),
        ("object_state_masks", np.float32, (MAX_OBJECT_NUM,)),
        ("action", np.int32),
        ("reward", np.float32),
        ("nonterminal", np.bool_),
    ]
)
blank_trans = (
    0,
    np.zeros(SELF_DIMENSION, dtype=np.float32),
    np.zeros((MAX_OBJECT_NUM, OBJECT_DIMENSION), dtype=np.float32),
    np.zeros(MAX_OBJECT_NUM, dtype=np.float32),
    0,
    0.0,
    False,
)


class SegmentTree:
    """Ring of transitions with their priorities in the leaves of a binary sum tree."""

    def __init__(self, size: int) -> None:
        self.index = 0
        self.size = size
        self.full = False
        self.tree_start = 2 ** (size - 1).bit_length() - 1
        self.sum_tree = np.zeros(self.tree_start + size, dtype=np.float32)
        self.data = np.array([blank_trans] * size, dtype=Transition_dtype)
        self.max = 1

    def append(self, data: tuple[Any, ...], value: float) -> None:
        """Store a transition with its priority in place of the oldest."""
        self.data[self.index] = data
        leaf = self.tree_start + self.index
        self.sum_tree[leaf] = value
        self._propagate(leaf)
        self.max = max(value, self.max)
        self.index = (self.index + 1) % self.size
        self.full = self.full or self.index == 0

    def update(self, indices: np.ndarray, values: np.ndarray) -> None:
        """Set the priorities of several leaves; of repeated leaves the last wins."""
        self.sum_tree[indices] = values
        nodes = indices
        while nodes[0] != 0:
            nodes = np.unique((nodes - 1) // 2)
            children = nodes * 2 + np.array([[1], [2]])
            self.sum_tree[nodes] = np.sum(self.sum_tree[children], axis=0)
        self.max = max(np.max(values), self.max)

    def find(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Leaves in which the given amounts of cumulated priority fall.

        Returns:
            Their priorities, the indices of their transitions, and their indices in the tree.
        """
        nodes = np.zeros(values.shape, dtype=np.int64)
        last = self.sum_tree.shape[0] - 1
        while True:
            children = nodes * 2 + np.array([[1], [2]])
            if children[0, 0] > last:
                break
            if children[0, 0] >= self.tree_start:
                children = np.minimum(children, last)
            left_values = self.sum_tree[children[0]]
            goes_right = np.greater(values, left_values).astype(np.int32)
            nodes = children[goes_right, np.arange(nodes.size)]
            values = values - goes_right * left_values
        return self.sum_tree[nodes], nodes - self.tree_start, nodes

    def get(self, data_index: np.ndarray) -> np.ndarray:
        """Copies of transitions; indices wrap around."""
        return self.data[data_index % self.size]

    def total(self) -> np.float32:
        """Sum of all priorities."""
        return self.sum_tree[0]

    def num_elements(self) -> int:
        """Number of stored transitions, one too many until the ring is full."""
        return self.size if self.full else self.index + 1

    def _propagate(self, node: int) -> None:
        if node == 0:
            return
        parent = (node - 1) // 2
        left = 2 * parent + 1
        self.sum_tree[parent] = self.sum_tree[left] + self.sum_tree[left + 1]
        self._propagate(parent)


class ReplayMemory:
    """Transitions of all robots in one stream, sampled by priority as n-step windows.

    Robots take turns in the stream, so a window mixes robots; a next state is the state n entries later.
    """

    def __init__(self, device: str, capacity: int) -> None:
        self.device = device
        self.capacity = capacity
        self.history = 1
        self.discount = 0.99
        self.n = 3
        self.priority_weight = 0.4
        self.priority_exponent = 0.5
        self.t = 0
        self.n_step_scaling = torch.tensor(
            [self.discount**i for i in range(self.n)], dtype=torch.float32, device=device
        )
        self.transitions = SegmentTree(capacity)

    def append(self, state: RobotState, action: int, reward: float, terminal: bool) -> None:
        """Store a transition with the highest priority seen so far."""
        self_state, objects = state
        padded, mask = pad_objects(objects, MAX_OBJECT_NUM, OBJECT_DIMENSION)
        transition = (self.t, self_state, padded, mask, action, reward, not terminal)
        self.transitions.append(transition, self.transitions.max)
        self.t = 0 if terminal else self.t + 1

    def sample(self, batch_size: int) -> tuple[Any, ...]:
        """A batch with one transition from each equal share of the priority mass.

        Returns:
            Tree indices, states, actions, n-step returns, next states, non-terminal flags and importance weights.

        Raises:
            ReplaySamplingError: The newest transitions hold so much priority that no batch is valid.
        """
        total = self.transitions.total()
        priorities, data_indices, tree_indices = self._draw_valid(batch_size, total)
        windows = self._windows(data_indices)
        first, last = windows[:, 0], windows[:, self.n]

        states = self._state_tensors(first)
        next_states = self._state_tensors(last)
        actions = torch.tensor(first["action"], dtype=torch.int64, device=self.device)
        rewards = torch.tensor(
            windows["reward"][:, : self.n].copy(), dtype=torch.float32, device=self.device
        )
        returns = torch.matmul(rewards, self.n_step_scaling)
        nonterminals = torch.tensor(
            np.expand_dims(last["nonterminal"], axis=1), dtype=torch.float32, device=self.device
        )

        stored = self.capacity if self.transitions.full else self.transitions.index
        weights = (stored * (priorities / total)) ** -self.priority_weight
        weights = torch.tensor(weights / weights.max(), dtype=torch.float32, device=self.device)
        return tree_indices, states, actions, returns, next_states, nonterminals, weights

    def update_priorities(self, idxs: np.ndarray, losses: np.ndarray) -> None:
        """Set the priorities of sampled transitions from their losses."""
        self.transitions.update(idxs, np.power(losses, self.priority_exponent))

    def state_batch(self, states: list[RobotState]) -> tuple[list[Any], list[Any], list[Any]]:
        """Own states, padded objects and object masks of several robots."""
        return batch_states(states, MAX_OBJECT_NUM, OBJECT_DIMENSION)

    def _draw_valid(
        self, batch_size: int, total: np.float32
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        segment = total / batch_size
        starts = np.arange(batch_size) * segment
        for _ in range(MAX_SAMPLING_ATTEMPTS):
            found = self.transitions.find(np.random.uniform(0.0, segment, [batch_size]) + starts)
            priorities, data_indices, _ = found
            is_complete = (self.transitions.index - data_indices) % self.capacity > self.n
            has_history = (data_indices - self.transitions.index) % self.capacity >= self.history
            if np.all(is_complete) and np.all(has_history) and np.all(priorities != 0):
                return found
        raise ReplaySamplingError(
            stored=self.capacity if self.transitions.full else self.transitions.index,
            batch_size=batch_size,
            attempts=MAX_SAMPLING_ATTEMPTS,
            newest_mass=self._newest_mass(total),
        )

    def _newest_mass(self, total: np.float32) -> float:
        newest = (self.transitions.index - 1 - np.arange(self.n)) % self.capacity
        leaves = self.transitions.sum_tree[self.transitions.tree_start + newest]
        return float(leaves.sum() / total) if total else 0.0

    def _windows(self, data_indices: np.ndarray) -> np.ndarray:
        """The n+1 transitions from each index on, blanked from the first one of another episode."""
        window_indices = np.expand_dims(data_indices, axis=1) + np.arange(self.n + 1)
        windows = self.transitions.get(window_indices)
        starts_episode = windows["timestep"] == 0
        is_blank = np.zeros_like(starts_episode)
        for column in range(self.history, self.history + self.n):
            is_blank[:, column] = np.logical_or(is_blank[:, column - 1], starts_episode[:, column])
        windows[is_blank] = np.array(blank_trans, dtype=Transition_dtype)
        return windows

    def _state_tensors(
        self, transitions: np.ndarray
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        fields = ("self_state", "object_states", "object_state_masks")
        return tuple(
            torch.tensor(transitions[name], dtype=torch.float32, device=self.device)
            for name in fields
        )
