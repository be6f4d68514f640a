"""Rainbow's batches by compiled code are those of legacy, draw by draw, and memories of others are asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from legacy_marinenav.errors import ReplaySamplingError
from patches.marinenav.step4_keep.device_priority_replay import DeviceReplayMemory

pytest.importorskip("numba")
from patches.marinenav.step5_merge.compiled_networks import priorities


def memory(capacity: int, stored: int, kind: type[DeviceReplayMemory] = DeviceReplayMemory) -> Any:
    """Rows with episodes of all lengths."""
    found = kind("cpu", capacity)
    random = np.random.RandomState(1)
    for number in range(stored):
        state = random.randn(7).tolist(), []
        found.append(state, number % 25, random.randn(), random.rand() < 0.2)
    return found


def drawn(found: Any, draw: Any, update: Any) -> list[Any]:
    np.random.seed(2)
    random, kept = np.random.RandomState(3), []
    for _ in range(20):
        batch = draw(found, 16)
        kept.append([np.asarray(each, dtype=np.float64).tolist() for each in batch])
        losses = 1.0 + random.rand(16).astype(np.float32)
        update(found, batch.tree_indices, losses)
    tree = found.transitions
    return [*kept, tree.sum_tree.tolist(), float(tree.max), np.random.rand()]


@pytest.mark.parametrize(
    ("capacity", "stored"), [(256, 200), (256, 900), (300, 290), (277, 900), (1000, 999)]
)
def test_batches_and_priorities_are_those_of_numpy(capacity: int, stored: int) -> None:
    wanted = drawn(
        memory(capacity, stored),
        DeviceReplayMemory.draw,
        DeviceReplayMemory.update_priorities,
    )
    found = drawn(memory(capacity, stored), priorities.draw, priorities.update_priorities)
    assert found == wanted


def test_compiled_code_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DeviceReplayMemory, "draw", None)
    found = memory(64, 60)
    assert len(priorities.draw(found, 8).slots) == 16


class Own(DeviceReplayMemory):
    """Somebody else's."""

    def draw(self, batch_size: int) -> Any:
        return "mine", batch_size

    def update_priorities(self, idxs: Any, losses: Any) -> None:
        self.heard = idxs, losses


def test_memories_of_others_are_asked() -> None:
    own = memory(64, 40, Own)
    assert priorities.draw(own, 4) == ("mine", 4)
    priorities.update_priorities(own, "indices", "losses")
    assert own.heard == ("indices", "losses")


def test_what_cannot_be_drawn_is_refused_as_in_legacy() -> None:
    said = []
    for draw in (DeviceReplayMemory.draw, priorities.draw):
        found = memory(64, 3)
        np.random.seed(0)
        with pytest.raises(ReplaySamplingError) as refused:
            draw(found, 4)
        said.append((str(refused.value), np.random.rand()))
    assert said[0] == said[1]
