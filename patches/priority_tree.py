"""Rainbow's sum tree on the host, its levels updated for all leaves at once.

Replaces: policy.replay_memory_rainbow:SegmentTree
Removes:  a recursion per stored transition, sorting per level and update, transitions in host memory
Keeps:    every float32 sum: a node is left child plus right child, whatever the order its leaves were set in
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from legacy_marinenav.policy.replay_memory_rainbow import SegmentTree

_ZERO: Final = np.float32(0.0)


class PriorityTree(SegmentTree):
    """Priorities, and of each transition what windows are built from: all but the state."""

    def __init__(self, size: int) -> None:
        self.index = 0
        self.size = size
        self.full = False
        self.tree_start = 2 ** (size - 1).bit_length() - 1
        siblings = size % 2 if size > 1 else 0
        self.sum_tree = np.zeros(self.tree_start + size + siblings, dtype=np.float32)
        self.max = 1
        self.timestep = np.zeros(size, dtype=np.int32)
        self.action = np.zeros(size, dtype=np.int32)
        self.reward = np.zeros(size, dtype=np.float32)
        self.nonterminal = np.zeros(size, dtype=np.bool_)

    def append_all(self, timesteps: Any, actions: Any, rewards: Any, nonterminals: Any) -> None:
        """Store transitions, each with the highest priority so far, in place of the oldest."""
        done = 0
        while done < len(timesteps):
            count = min(len(timesteps) - done, self.size - self.index)
            begin, end = self.index, self.index + count
            part = slice(done, done + count)
            self.timestep[begin:end] = timesteps[part]
            self.action[begin:end] = actions[part]
            self.reward[begin:end] = rewards[part]
            self.nonterminal[begin:end] = nonterminals[part]
            self._set_run(self.tree_start + begin, self.tree_start + end - 1)
            self.index = end % self.size
            self.full = self.full or self.index == 0
            done += count

    def _set_run(self, first: int, last: int) -> None:
        tree = self.sum_tree
        tree[first : last + 1] = self.max
        while first:
            first, last = (first - 1) // 2, (last - 1) // 2
            children = tree[2 * first + 1 : 2 * last + 3]
            tree[first : last + 1] = children[::2] + children[1::2]

    def update(self, indices: Any, values: Any) -> None:
        """Set the priorities of several leaves; of repeated leaves the last wins."""
        tree = self.sum_tree
        tree[indices] = values
        nodes = indices
        while nodes[0]:
            nodes = (nodes - 1) >> 1
            left = 2 * nodes + 1
            # Legacy sums with an initial zero, which turns the sum of two negative zeros positive.
            tree[nodes] = tree[left] + tree[left + 1] + _ZERO
        self.max = max(np.max(values), self.max)

    def find(self, values: Any) -> tuple[Any, Any, Any]:
        """Leaves in which the given amounts of cumulated priority fall, as the legacy tree finds them."""
        tree = self.sum_tree
        last = len(tree) - 1
        nodes = np.zeros(values.shape, dtype=np.int64)
        first = 1
        while first <= last:
            left = 2 * nodes + 1
            if first >= self.tree_start:
                np.minimum(left, last, out=left)
            left_values = tree[left]
            goes_right = values > left_values
            nodes = left + goes_right
            if first >= self.tree_start:
                np.minimum(nodes, last, out=nodes)
            # Doubles minus float32, or minus nothing: what legacy computes with a product.
            values = values - goes_right * left_values.astype(np.float64)
            first = 2 * int(nodes[0]) + 1
        return tree[nodes], nodes - self.tree_start, nodes
