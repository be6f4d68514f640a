"""Rainbow's draws by priority, and its new priorities, by compiled code.

Replaces: DeviceReplayMemory.draw, ReplayMemory.update_priorities
Removes:  operations of numpy on a batch of indices, for each level of the tree
Keeps:    numpy's draws, one batch after the other until one is valid, and its powers; every sum
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from legacy_marinenav.errors import ReplaySamplingError
from legacy_marinenav.policy.replay_memory_rainbow import MAX_SAMPLING_ATTEMPTS
from patches.blocks.drawn_batch import Drawn
from patches.blocks.sum_tree import SumTree
from patches.marinenav.authorship import is_own_work
from patches.marinenav.step5_merge.compiled_networks.compiled import priorities

_OF_MEMORIES: Final = frozenset({"draw", "_draw_valid", "update_priorities"})
_OF_TREES: Final = frozenset({"find", "update", "total"})


def draw(memory: Any, batch_size: int) -> Drawn:
    """A batch by priority, with what follows each transition."""
    tree = memory.transitions
    if not _are_ours(memory, tree):
        drawn: Drawn = memory.draw(batch_size)
        return drawn
    total = tree.total()
    nodes = _draw_valid(memory, tree, batch_size, total)
    slots = np.empty((2, batch_size), dtype=np.int64)
    actions, rewards = np.empty(batch_size, np.int64), np.empty((batch_size, memory.n), np.float32)
    goes_on = np.empty((batch_size, 1), dtype=np.float32)
    priorities.look_ahead(
        nodes - tree.tree_start, memory.capacity,
        tree.timestep, tree.action, tree.reward, tree.nonterminal,
        slots, actions, rewards, goes_on,
    )  # fmt: skip
    stored = memory.capacity if tree.full else tree.index
    weights = (stored * (tree.sum_tree[nodes] / total)) ** -memory.priority_weight
    return Drawn(nodes, slots.reshape(-1), actions, rewards, goes_on, weights / weights.max())


def update_priorities(memory: Any, indices: Any, losses: Any) -> None:
    """Set the priorities of sampled transitions from their losses."""
    tree = memory.transitions
    if not _are_ours(memory, tree):
        memory.update_priorities(indices, losses)
        return
    values = np.power(losses, memory.priority_exponent)
    priorities.update(tree.sum_tree, indices, np.asarray(values, dtype=np.float32))
    tree.max = max(np.max(values), tree.max)


def _are_ours(memory: Any, tree: Any) -> bool:
    return (
        isinstance(tree, SumTree)
        and is_own_work(memory, _OF_MEMORIES)
        and is_own_work(tree, _OF_TREES)
    )


def _draw_valid(memory: Any, tree: Any, batch_size: int, total: Any) -> Any:
    """Nodes of a valid batch."""
    share = total / batch_size
    begins = np.arange(batch_size) * share
    nodes = np.empty(batch_size, dtype=np.int64)
    for _ in range(MAX_SAMPLING_ATTEMPTS):
        amounts = np.random.uniform(0.0, share, [batch_size]) + begins  # noqa: NPY002  # legacy's
        priorities.find(tree.sum_tree, tree.tree_start, amounts, nodes)
        if priorities.are_valid(
            tree.sum_tree, tree.tree_start, nodes, tree.index, memory.capacity, memory.n, memory.history
        ):  # fmt: skip
            return nodes
    raise ReplaySamplingError(
        stored=memory.capacity if tree.full else tree.index,
        batch_size=batch_size,
        attempts=MAX_SAMPLING_ATTEMPTS,
        newest_mass=memory._newest_mass(total),  # noqa: SLF001
    )
