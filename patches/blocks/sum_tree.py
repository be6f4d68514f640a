"""Priorities in the leaves of a sum tree on the host, its levels updated for all leaves at once.

A node is the float32 sum of its left child and its right child, whatever the order its leaves were set in: the
same sums as a tree that walks up from one leaf after the other.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

_ZERO: Final = np.float32(0.0)


class SumTree:
    """A ring of priorities that can be drawn by: `find` tells in whose share an amount falls."""

    def __init__(self, size: int) -> None:
        self.index = 0
        self.size = size
        self.full = False
        self.tree_start = 2 ** (size - 1).bit_length() - 1
        siblings = size % 2 if size > 1 else 0
        self.sum_tree = np.zeros(self.tree_start + size + siblings, dtype=np.float32)
        self.max = 1

    def total(self) -> Any:
        """Sum of all priorities."""
        return self.sum_tree[0]

    def append_run(self, count: int) -> None:
        """Give the next leaves, up to the last one of all, the highest priority so far."""
        first = self.tree_start + self.index
        self._set_run(first, first + count - 1)
        self.index = (self.index + count) % self.size
        self.full = self.full or self.index == 0

    def _set_run(self, first: int, last: int) -> None:
        tree = self.sum_tree
        tree[first : last + 1] = self.max
        while first < last:
            first, last = (first - 1) // 2, (last - 1) // 2
            children = tree[2 * first + 1 : 2 * last + 3]
            tree[first : last + 1] = children[::2] + children[1::2]
        # Most levels have one node to set, which takes a tenth of the time without slices.
        while first:
            first = (first - 1) // 2
            tree[first] = tree[2 * first + 1] + tree[2 * first + 2]

    def update(self, indices: Any, values: Any) -> None:
        """Set the priorities of several leaves; of repeated leaves the last wins."""
        tree = self.sum_tree
        tree[indices] = values
        nodes = indices
        while nodes[0]:
            nodes = (nodes - 1) >> 1
            left = 2 * nodes + 1
            # As `numpy.sum` does it: the zero turns the sum of two negative zeros positive.
            tree[nodes] = tree[left] + tree[left + 1] + _ZERO
        self.max = max(np.max(values), self.max)

    def find(self, values: Any) -> tuple[Any, Any, Any]:
        """Leaves in which the given amounts of cumulated priority fall.

        Returns:
            Their priorities, their indices among the leaves, and their indices in the tree.
        """
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
            # Doubles minus float32, or minus nothing, by a product: a difference of float32 rounds otherwise.
            values = values - goes_right * left_values.astype(np.float64)
            first = 2 * int(nodes[0]) + 1
        return tree[nodes], nodes - self.tree_start, nodes
