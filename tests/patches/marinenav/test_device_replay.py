"""Device memories hold and hand out what the legacy memories do."""

from __future__ import annotations

import contextlib
import copy
import math
import operator
import random
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import patches
from legacy_marinenav.policy.agent import Agent
from legacy_marinenav.policy.replay_buffer import ReplayBuffer
from legacy_marinenav.policy.replay_memory_rainbow import ReplayMemory, SegmentTree
from patches.blocks.device_replay import WAITING_ROOM, sample_range
from patches.blocks.ring import require_room
from patches.errors import CopyOfReplayError
from patches.marinenav.rows import REWARD, TRANSITION, transition_rows
from patches.marinenav.step4_keep.device_priority_replay import DeviceReplayMemory
from patches.marinenav.step4_keep.device_replay import DeviceReplayBuffer
from patches.marinenav.step4_keep.priority_tree import PriorityTree


def transitions(count: int, *, is_discrete: bool = False, seed: int = 0) -> list[tuple[Any, ...]]:
    rng = np.random.RandomState(seed)

    def state() -> Any:
        seen = rng.randint(0, 6)
        return list(rng.randn(7)), [list(rng.randn(5)) for _ in range(seen)]

    return [
        (
            state(),
            int(rng.randint(25)) if is_discrete else rng.uniform(-1, 1, 2).tolist(),
            rng.randn(),
            state(),
            bool(rng.rand() < 0.1),
        )
        for _ in range(count)
    ]


def rounded(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return float(np.float32(value))


@pytest.mark.parametrize("stored", [20, 64, 65, 150, 64 * 3, 700])
@pytest.mark.parametrize("is_discrete", [False, True])
def test_samples_are_those_of_the_deque(stored: int, is_discrete: bool) -> None:
    legacy, device = ReplayBuffer(64, 16, 5, 5), DeviceReplayBuffer(64, 16, 5, 5)
    items = transitions(stored, is_discrete=is_discrete)
    for item in items:
        legacy.add(item)
    for begin in range(0, stored, 5):
        device.extend(items[begin : begin + 5])
    assert device.size() == legacy.size()
    assert rounded(list(device.memory)) == rounded(list(legacy.memory))
    random.seed(1)
    expected, state = legacy.sample(), random.getstate()
    random.seed(1)
    assert rounded(device.sample()) == rounded(expected)
    assert random.getstate() == state


ODD: Any = (
    math.nan, -math.inf, -0.0, 1e-45, 1 + 2**-24, 1e300, 7, 2**80, True, np.float32(0.1), np.int64(3),
    np.float16(0.1), np.array(2.5), np.array([2.5]), None, "1.5", "a", [1.0], 1j, {},
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_numbers_are_rounded_or_refused_as_numpy_does_it(odd: Any) -> None:
    """Rows are written at once, as doubles first: what numpy makes of a list of numbers is what counts."""
    given = transitions(1)[0]
    expected, row = np.empty(1, np.float32), np.empty((1, TRANSITION), np.float32)

    def outcome(write: Callable[[], object]) -> Any:
        try:
            write()
        except Exception as error:
            return type(error)
        return None

    wanted = outcome(lambda: operator.setitem(expected, slice(None), [odd]))
    found = outcome(lambda: transition_rows([(*given[:2], odd, *given[3:])], row))
    assert found == wanted
    if wanted is None:
        assert row[0, REWARD].tobytes() == expected.tobytes()


@pytest.mark.parametrize("size", [16, 64, 277, 278, 300, 1024, 1025, 5000, 1_000_000])
@pytest.mark.parametrize("count", [4, 16])
def test_indices_are_those_of_the_library(size: int, count: int) -> None:
    for seed in range(20):
        random.seed(seed)
        expected, state = random.sample(range(size), count), random.getstate()
        random.seed(seed)
        assert sample_range(size, count) == expected
        assert random.getstate() == state


def test_construction_seeds_python_as_legacy_does() -> None:
    ReplayBuffer(10, 4, 5, 5)
    expected = random.random()
    DeviceReplayBuffer(10, 4, 5, 5)
    assert random.random() == expected


def test_storage_is_allocated_once_and_costs_what_it_holds() -> None:
    with patches.applied("all"):
        agent = Agent(agent_type="DDPG", BUFFER_SIZE=200_000)
    ring = agent.memory.storage.rows
    raw = 200_000 * TRANSITION * 4
    held = ring.untyped_storage().nbytes() + agent.memory._sees.nbytes
    assert held + agent.memory._waiting.nbytes <= 1.2 * raw
    place = ring.data_ptr()
    for begin in range(0, 600, 5):
        agent.memory.extend(transitions(5, seed=begin))
    agent.memory.flush()
    assert agent.memory.storage.rows.data_ptr() == place
    assert agent.memory.size() == 600


def test_rainbow_storage_costs_what_it_holds() -> None:
    memory = DeviceReplayMemory("cpu", 200_000)
    tree = memory.transitions
    held = memory.storage.rows.untyped_storage().nbytes() + sum(
        array.nbytes
        for array in (tree.sum_tree, tree.timestep, tree.action, tree.reward, tree.nonterminal)
    )
    assert held <= 1.2 * 200_000 * 161


def test_more_than_fits_the_waiting_room_at_once() -> None:
    device = DeviceReplayBuffer(2000, 16, 5, 5)
    items = transitions(2 * WAITING_ROOM + 3)
    device.extend(items)
    assert rounded(list(device.memory)) == rounded(items)


@pytest.mark.parametrize("size", [2, 6, 8, 14, 64, 100])
def test_tree_sums_are_those_of_legacy(size: int) -> None:
    rng = np.random.RandomState(size)
    legacy, tree = SegmentTree(size), PriorityTree(size)
    blank = legacy.data[0]
    for _ in range(60):
        count = rng.randint(1, 8)
        for _ in range(count):
            legacy.append(blank, legacy.max)
        tree.append_all([0] * count, [0] * count, [0.0] * count, [True] * count)
        leaves = legacy.tree_start + rng.randint(0, size, 6)
        values = (rng.rand(6) * 3).astype(np.float32) * rng.choice([-0.0, 1.0], 6).astype(
            np.float32
        )
        legacy.update(leaves, values)
        tree.update(leaves, values)
        assert tree.sum_tree.tobytes() == legacy.sum_tree.tobytes()
        assert (tree.index, tree.full, tree.max) == (legacy.index, legacy.full, legacy.max)
        wanted = rng.rand(10) * float(legacy.total())
        for one, other in zip(tree.find(wanted), legacy.find(wanted), strict=True):
            assert one.tobytes() == other.tobytes()


def test_who_saw_something_is_known_once_the_ring_has_wrapped() -> None:
    device, items = DeviceReplayBuffer(10, 4, 5, 5), transitions(27)
    for item in items:
        device.add(item)
    places = device.places_of(np.arange(10))
    seen = [device.sees_any(places[number : number + 1]) for number in range(10)]
    assert seen == [bool(state[1]) for state, *_ in items[-10:]]
    assert len(set(seen)) == 2


def test_a_priority_that_is_no_number_is_the_highest_until_the_next() -> None:
    legacy, tree = SegmentTree(8), PriorityTree(8)
    found = []
    for priority in (2.0, np.nan, 3.0):
        for each in (legacy, tree):
            each.update(each.tree_start + np.arange(2), np.array([priority, 1.0], np.float32))
        assert repr(tree.max) == repr(legacy.max)
        found.append(float(tree.max))
    assert found == pytest.approx([2.0, np.nan, 3.0], nan_ok=True)


@pytest.mark.parametrize("stored", [60, 130, 300])
@pytest.mark.parametrize("is_torchrl", [False, True])
def test_rainbow_samples_are_those_of_legacy(stored: int, is_torchrl: bool) -> None:
    legacy, device = ReplayMemory("cpu", 128), DeviceReplayMemory("cpu", 128)
    if is_torchrl:
        from patches.marinenav.step4_keep.torchrl_replay import state_storage

        device.use_storage(state_storage(128, torch.device("cpu")))
    items = transitions(stored, is_discrete=True)
    for state, action, reward, _, done in items:
        legacy.append(state, action, reward, done)
    for begin in range(0, stored, 7):
        device.extend(items[begin : begin + 7])
    assert device.data.tobytes() == legacy.transitions.data.tobytes()
    for seed in range(20):
        np.random.seed(seed)
        expected = legacy.sample(8)
        np.random.seed(seed)
        found = device.sample(8)
        losses = np.random.rand(8).astype(np.float32)
        legacy.update_priorities(expected[0], losses)
        device.update_priorities(found[0], losses)
        assert _flat(found) == _flat(expected)


def _flat(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [_flat(item) for item in value]
    return [str(value.dtype), list(value.shape), np.asarray(value).tolist()]


def test_a_buffer_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _device: (10 * 2**20, 16 * 2**30))
    with pytest.raises(
        MemoryError, match=r"needs 298 MiB.*10 MiB free.*buffer_device='cpu'"
    ) as caught:
        require_room(1_000_000, TRANSITION, torch.device("cuda"))
    assert "\n" not in str(caught.value)


def test_the_buffer_can_live_elsewhere() -> None:
    with patches.applied("all", buffer_device="cpu"):
        agent = Agent(agent_type="AC-IQN", BUFFER_SIZE=100, BATCH_SIZE=8)
        agent.memory.extend(transitions(20))
        assert len(agent.train()) == 2
    assert agent.memory.storage.device.type == "cpu"


def test_a_batch_without_objects_leaves_the_object_encoder_alone() -> None:
    """Legacy gives that encoder no gradient at all, so its Adam state must not move either."""
    items = [
        ((list(own), []), action, reward, (list(nxt), []), done)
        for (own, _), action, reward, (nxt, _), done in transitions(40)
    ]
    states = []
    for steps in ("none", "all"):
        with patches.applied(steps, mode="exact"):
            agent = Agent(agent_type="DDPG", BUFFER_SIZE=100, BATCH_SIZE=8)
            for item in items[:39]:
                agent.memory.add(item)
            agent.memory.add(transitions(1, seed=5)[0])
            torch.manual_seed(0)
            losses = [np.asarray(agent.train()).tolist() for _ in range(12)]
            optimizer = agent.critic_optimizer.state_dict()["state"]
            counts = [float(state["step"]) for state in optimizer.values()]
            states.append(
                (losses, counts, [p.tolist() for p in agent.policy_local.critic.parameters()])
            )
    assert states[0] == states[1]
    assert len(set(states[0][1])) > 1, "some batches had objects and some had none"


@pytest.mark.parametrize("sees_before", [False, True])
@pytest.mark.parametrize("agent_type", ["AC-IQN", "IQN", "DDPG", "DQN", "SAC"])
def test_objects_that_come_or_go_are_learnt_from(agent_type: str, sees_before: bool) -> None:
    """All robots of a batch see something either before or after they act."""
    found = []
    for steps in ("none", "all"):
        with patches.applied(steps, mode="exact"):
            agent = Agent(agent_type=agent_type, BUFFER_SIZE=100, BATCH_SIZE=8, seed=1)
            for state, *others, after, is_done in transitions(
                40, is_discrete=not agent.kind.is_continuous
            ):
                objects = [[1.0, 2.0, 3.0, 4.0, 5.0]]
                before, later = (objects, []) if sees_before else ([], objects)
                agent.memory.add(((state[0], before), *others, (after[0], later), is_done))
            torch.manual_seed(0)
            random.seed(0)
            losses = [agent.train() for _ in range(3)]
            found.append(
                [np.asarray(each).tolist() for loss in losses for each in np.atleast_1d(loss)]
            )
    assert found[0] == found[1]


def test_windows_of_another_length_fail_as_they_do_in_legacy() -> None:
    """The discounts of a window are made for three steps; with fewer the sums must not be stretched."""
    for steps in ("none", "4", "4,5", "all"):
        with patches.applied(steps):
            agent = Agent(agent_type="Rainbow", BUFFER_SIZE=64, BATCH_SIZE=4, seed=1)
            for item in transitions(40, is_discrete=True):
                agent.kind.store(agent.memory, *item)
            agent.train()
            agent.memory.n = 1
            with pytest.raises((RuntimeError, ValueError)):  # legacy stumbles over a stride before
                agent.train()


def test_a_full_ring_of_odd_size_works_where_legacy_fails() -> None:
    """The one deviation of the memories, listed in docs/plan.md."""
    for steps, error in (("none", IndexError), ("4", None)):
        with patches.applied(steps):
            agent = Agent(agent_type="Rainbow", BUFFER_SIZE=33, BATCH_SIZE=4, seed=1)
            items = transitions(40, is_discrete=True)
            with pytest.raises(error) if error else contextlib.nullcontext():
                for item in items:
                    agent.kind.store(agent.memory, *item)


CHANGES: dict[str, Callable[[Any], object]] = {
    "clear": lambda memory: memory.memory.clear(),
    "append": lambda memory: memory.memory.append(transitions(1)[0]),
    "item": lambda memory: operator.setitem(memory.memory, 0, memory.memory[1]),
    "delete": lambda memory: operator.delitem(memory.memory, 0),
    "set": lambda memory: setattr(memory, "memory", deque()),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_read_back_refuses_changes_that_would_change_nothing(change: str) -> None:
    memory = DeviceReplayBuffer(64, 16, 5, 5)
    memory.extend(transitions(20))
    with pytest.raises(CopyOfReplayError, match=r"add with memory\.add"):
        CHANGES[change](memory)
    assert memory.size() == 20


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda each: each.copy()])
def test_a_copy_of_what_was_read_back_is_a_deque_like_any_other(
    copied: Callable[[Any], Any],
) -> None:
    memory = DeviceReplayBuffer(64, 16, 5, 5)
    memory.extend(transitions(20))
    found = copied(memory.memory)
    assert type(found) is deque
    assert found == memory.memory
    found.clear()


def test_rainbow_data_that_was_read_back_refuses_changes() -> None:
    memory = DeviceReplayMemory("cpu", 16)
    with pytest.raises(ValueError, match="read-only"):
        memory.data["reward"][0] = 1.0
