"""Both replay memories apart from the recording: properties that hold for any contents."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from legacy_marinenav.errors import ReplaySamplingError
from legacy_marinenav.policy import replay_memory_rainbow
from legacy_marinenav.policy.replay_buffer import ReplayBuffer
from legacy_marinenav.policy.replay_memory_rainbow import (
    ReplayMemory,
    SegmentTree,
    Transition_dtype,
    blank_trans,
)

sizes = st.integers(1, 20).map(lambda pairs: 2 * pairs)
"""Leaves of the sum tree come in pairs."""
priorities = st.floats(0, 100, width=32)


def state(number: int, num_objects: int = 0) -> tuple[list[float], list[list[float]]]:
    return [float(number)] * 7, [[float(number)] * 5 for _ in range(num_objects)]


@given(capacity=st.integers(1, 20), count=st.integers(0, 60))
def test_buffer_keeps_the_newest_in_order(capacity: int, count: int) -> None:
    buffer = ReplayBuffer(capacity, 1, 5, 5)
    for number in range(count):
        buffer.add((state(number), number, 0.0, state(number + 1), False))
    assert [item[1] for item in buffer.memory] == list(range(count))[-capacity:]
    assert buffer.size() == min(capacity, count)


@given(count=st.integers(1, 60), data=st.data())
def test_buffer_samples_whole_transitions_without_repetition(count: int, data: Any) -> None:
    batch_size = data.draw(st.integers(1, count))
    buffer = ReplayBuffer(100, batch_size, 5, 5)
    for number in range(count):
        buffer.add(
            (state(number, number % 3), number, number / 2, state(number + 1), number % 2 == 0)
        )
    (own, objects, masks), actions, rewards, (next_own, _, _), dones = buffer.sample()
    assert len(set(actions)) == batch_size
    assert own == [[float(number)] * 7 for number in actions]
    assert next_own == [[float(number + 1)] * 7 for number in actions]
    assert rewards == [number / 2 for number in actions]
    assert dones == [number % 2 == 0 for number in actions]
    if any(number % 3 for number in actions):
        assert [sum(mask) for mask in masks] == [number % 3 for number in actions]
        assert {len(rows) for rows in objects} == {5}
    else:
        assert objects == masks == []


def test_buffer_seeds_python_and_samples_as_indices_would() -> None:
    buffer = ReplayBuffer(1000, 64, 5, 5)
    assert buffer.seed is None
    for number in range(300):
        buffer.add((state(number), number, 0.0, state(number), False))
    _, actions, _, _, _ = buffer.sample()
    random.seed(249)
    assert actions == random.sample(range(300), 64)


def assert_sums_hold(tree: SegmentTree) -> None:
    for node in range(tree.tree_start):
        left = 2 * node + 1
        if left + 1 < len(tree.sum_tree):
            assert tree.sum_tree[node] == tree.sum_tree[left] + tree.sum_tree[left + 1]


@given(size=sizes, values=st.lists(priorities, max_size=90))
def test_tree_holds_sums_and_ring_order_after_appends(size: int, values: list[float]) -> None:
    tree = SegmentTree(size)
    for number, value in enumerate(values):
        tree.append((number, *blank_trans[1:]), value)
    assert_sums_hold(tree)
    assert tree.index == len(values) % size
    assert tree.full == (len(values) >= size)
    assert tree.num_elements() == (size if tree.full else len(values) + 1)
    assert tree.max == max([1, *values])
    stored = min(size, len(values))
    newest = (tree.index - 1 - np.arange(stored)) % size
    assert tree.get(newest)["timestep"].tolist() == list(range(len(values)))[::-1][:stored]


@given(size=sizes, data=st.data())
def test_tree_update_keeps_sums_and_the_last_of_repeated_values(size: int, data: Any) -> None:
    tree = SegmentTree(size)
    for _ in range(size):
        tree.append(blank_trans, 1.0)
    pairs = data.draw(
        st.lists(st.tuples(st.integers(0, size - 1), priorities), min_size=1, max_size=30)
    )
    indices = np.array([index for index, _ in pairs]) + tree.tree_start
    values = np.array([value for _, value in pairs], dtype=np.float32)
    tree.update(indices, values)
    assert_sums_hold(tree)
    for index, value in dict(pairs).items():
        assert tree.sum_tree[tree.tree_start + index] == np.float32(value)
    assert tree.max == max(1, values.max())


@given(size=sizes, data=st.data())
def test_tree_finds_the_leaf_that_holds_an_amount(size: int, data: Any) -> None:
    # Whole numbers add up exactly, so the expected leaf is beyond doubt.
    values = data.draw(st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any))
    tree = SegmentTree(size)
    for value in values:
        tree.append(blank_trans, value)
    amounts = np.arange(sum(values)) + 0.5
    found, data_indices, tree_indices = tree.find(amounts)
    assert data_indices.tolist() == np.repeat(np.arange(size), values).tolist()
    assert found.tolist() == np.repeat(values, values).tolist()
    assert (tree_indices - data_indices == tree.tree_start).all()


def test_transition_layout() -> None:
    assert Transition_dtype.itemsize == 161
    assert Transition_dtype.names == (
        "timestep",
        "self_state",
        "object_states",
        "object_state_masks",
        "action",
        "reward",
        "nonterminal",
    )


@settings(max_examples=25)
@given(
    capacity=st.integers(40, 150).map(lambda pairs: 2 * pairs),
    count=st.integers(70, 500),
    seed=st.integers(0, 1000),
    data=st.data(),
)
def test_memory_samples_complete_windows_only(
    capacity: int, count: int, seed: int, data: Any
) -> None:
    memory = ReplayMemory("cpu", capacity)
    ends = data.draw(st.sets(st.integers(0, count - 1), max_size=20))
    for number in range(count):
        memory.append(state(number), number % 25, float(number), number in ends)
    np.random.seed(seed)
    tree_indices, states, actions, returns, next_states, nonterminals, weights = memory.sample(8)
    tree = memory.transitions
    ages = (tree.index - 1 - (tree_indices - tree.tree_start)) % capacity
    assert (ages >= memory.n).all()
    firsts = count - 1 - ages
    assert states[0][:, 0].tolist() == firsts.tolist()
    assert actions.tolist() == (firsts % 25).tolist()
    assert 0 < weights.min() <= weights.max() == 1
    for row, first in enumerate(firsts):
        window = range(first, first + memory.n + 1)
        is_cut = [any(step in ends for step in window[:column]) for column in range(memory.n + 1)]
        expected = sum(0.99**i * (0 if is_cut[i] else window[i]) for i in range(memory.n))
        assert returns[row].item() == pytest.approx(expected, rel=1e-5)
        last = window[memory.n]
        assert nonterminals[row].item() == (not is_cut[memory.n] and last not in ends)
        assert next_states[0][row, 0].item() == (0 if is_cut[memory.n] else last)


def test_a_tree_of_odd_size_fails_at_its_last_leaf() -> None:
    """As in the original: the last leaf has no sibling to be added to."""
    tree = SegmentTree(5)
    for _ in range(4):
        tree.append(blank_trans, 1.0)
    with pytest.raises(IndexError):
        tree.append(blank_trans, 1.0)


def test_memory_gives_up_when_the_newest_hold_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = ReplayMemory("cpu", 1024)
    for number in range(192):
        memory.append(state(number), 0, 0.0, False)
    draws = []
    original = np.random.uniform
    monkeypatch.setattr(
        np.random, "uniform", lambda *args: draws.append(args[-1]) or original(*args)
    )
    with pytest.raises(
        ReplaySamplingError, match=r"192 transitions .* batch size of 64,.* 0\.0156"
    ) as caught:
        memory.sample(64)
    assert caught.value.attempts == len(draws) == 10_000
    assert draws[0] == [64]
    assert caught.value.newest_mass == pytest.approx(3 / 192)


def test_memory_gives_up_when_old_priorities_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_memory_rainbow, "MAX_SAMPLING_ATTEMPTS", 50)
    memory = ReplayMemory("cpu", 4096)
    for number in range(3000):
        memory.append(state(number), 0, 0.0, False)
    tree = memory.transitions
    tree.update(np.arange(3000) + tree.tree_start, np.full(3000, 0.02, dtype=np.float32))
    for number in range(3):
        memory.append(state(number), 0, 0.0, False)
    with pytest.raises(ReplaySamplingError, match="3003 transitions"):
        memory.sample(64)


def test_an_empty_memory_gives_up_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_memory_rainbow, "MAX_SAMPLING_ATTEMPTS", 3)
    with pytest.raises(ReplaySamplingError, match="0 transitions"):
        ReplayMemory("cpu", 64).sample(8)


def test_memory_just_large_enough_needs_many_tries() -> None:
    memory = ReplayMemory("cpu", 1024)
    for number in range(200):
        memory.append(state(number), 0, 0.0, False)
    np.random.seed(0)
    tree_indices, *_ = memory.sample(64)
    assert tree_indices.max() - memory.transitions.tree_start <= 196


def test_priorities_are_square_roots_of_losses() -> None:
    memory = ReplayMemory("cpu", 16)
    for number in range(8):
        memory.append(state(number), 0, 0.0, False)
    leaves = np.array([2, 3]) + memory.transitions.tree_start
    memory.update_priorities(leaves, np.array([4.0, 9.0], dtype=np.float32))
    assert memory.transitions.sum_tree[leaves].tolist() == [2.0, 3.0]
    memory.append(state(8), 0, 0.0, False)
    assert memory.transitions.sum_tree[memory.transitions.tree_start + 8] == 3.0
