"""Compiled: which transitions Rainbow's sum tree gives, what follows them, and how it takes new priorities.

Replaces: SumTree.find and update, what DeviceReplayMemory.draw does with indices
Removes:  operations on some dozens of numbers, for each level of the tree
Keeps:    which leaves are found, every float32 sum
"""

from __future__ import annotations

from typing import Any

import numpy as np

from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import compiled


@compiled
def find(tree: Any, start: int, amounts: Any, nodes: Any) -> None:
    """Write in which leaves amounts of cumulated priority fall.

    Args:
        tree: Sums, and priorities in its leaves.
        start: Where leaves begin.
        amounts: (n,), used up.
        nodes: (n,), written: indices in the tree.
    """
    last = len(tree) - 1
    nodes[:] = 0
    while 2 * nodes[0] + 1 <= last:
        # All nodes are on one level, and the first one says whether there is another.
        is_last = 2 * nodes[0] + 1 >= start
        for place in range(len(nodes)):
            left = 2 * nodes[place] + 1
            if is_last:
                left = min(left, last)
            share = np.float64(tree[left])
            if amounts[place] > share:
                amounts[place] -= share
                left = min(left + 1, last) if is_last else left + 1
            nodes[place] = left


@compiled
def are_valid(
    tree: Any, start: int, nodes: Any, index: int, capacity: int, ahead: int, behind: int
) -> bool:
    """Return whether transitions at nodes have a priority, and neighbours that belong to them.

    Args:
        tree: As in `find`, as are start and nodes.
        start: Of the leaves.
        nodes: (n,)
        index: Where the next transition will be put.
        capacity: Of the ring.
        ahead: How many transitions have to follow.
        behind: How many have to be before.
    """
    for place in range(len(nodes)):
        leaf = nodes[place] - start
        if (index - leaf) % capacity <= ahead or (leaf - index) % capacity < behind:
            return False
        if tree[nodes[place]] == np.float32(0.0):
            return False
    return True


@compiled
def look_ahead(
    leaves: Any, capacity: int, timesteps: Any, actions: Any, rewards: Any, nonterminals: Any,
    slots: Any, taken: Any, earned: Any, goes_on: Any,
) -> None:  # fmt: skip
    """Write what follows transitions, up to the first one of another episode.

    Args:
        leaves: (n,), places of transitions.
        capacity: Of the ring, and the place of the blank state.
        timesteps: (capacity,), like the next three.
        actions: What was done.
        rewards: What it brought.
        nonterminals: Whether anything followed.
        slots: (2, n), written: places of states and of later ones.
        taken: (n,), written: actions.
        earned: (n, m), written: rewards of as many steps.
        goes_on: (n, 1), written: whether anything follows these.
    """
    steps = earned.shape[1]
    for row in range(len(leaves)):
        first = leaves[row] % capacity
        is_blank = False
        for step in range(steps + 1):
            place = (first + step) % capacity
            is_blank = is_blank or (step > 0 and timesteps[place] == 0)
            if step < steps:
                earned[row, step] = np.float32(0.0) if is_blank else rewards[place]
        last = (first + steps) % capacity
        slots[0, row], slots[1, row] = first, capacity if is_blank else last
        taken[row] = actions[first]
        goes_on[row, 0] = nonterminals[last] and not is_blank


@compiled
def update(tree: Any, indices: Any, values: Any) -> None:
    """Set the priorities of leaves; of repeated ones the last wins.

    Args:
        tree: As in `find`.
        indices: (n,), in the tree.
        values: (n,)
    """
    for place in range(len(indices)):
        tree[indices[place]] = values[place]
    nodes = indices.copy()
    while nodes[0]:
        for place in range(len(nodes)):
            node = (nodes[place] - 1) >> 1
            nodes[place] = node
            # The zero turns the sum of two negative zeros positive.
            tree[node] = (tree[2 * node + 1] + tree[2 * node + 2]) + np.float32(0.0)
