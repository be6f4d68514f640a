"""Rainbow's sum tree, with what windows are built from beside it.

Replaces: policy.replay_memory_rainbow:SegmentTree
Removes:  a recursion per stored transition, sorting per level and update, transitions in host memory
Keeps:    every float32 sum, which leaves are found, who gives way to whom
"""

from __future__ import annotations

from typing import Any

import numpy as np

from legacy_marinenav.policy.replay_memory_rainbow import SegmentTree
from patches.blocks.sum_tree import SumTree


class PriorityTree(SumTree, SegmentTree):
    """Priorities, and of each transition all but the state."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
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
            self.append_run(count)
            done += count
