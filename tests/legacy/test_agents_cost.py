"""The cost structure that makes this code base worth measuring: conversions and copies per call."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

from legacy_marinenav.policy.agent_kinds import AGENT_KINDS
from tests.legacy import replays

TRAIN_READS = {"AC-IQN": 2, "IQN": 1, "DDPG": 2, "DQN": 1, "SAC": 3, "Rainbow": 2}
TAU_DRAWS = {"AC-IQN": 3, "IQN": 2}

STORED = 400


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts calls that convert to tensors or move them."""
    counted: Counter[str] = Counter()

    def count(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def counting(*args: Any, **kwargs: Any) -> Any:
            counted[name] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, counting)

    for name in ("tensor", "rand", "zeros"):
        count(torch, name)
    for name in ("float", "to", "cpu", "item"):
        count(torch.Tensor, name)
    return counted


def observed_state(num_objects: int = 2) -> tuple[list[np.float64], list[list[np.float64]]]:
    """A state as the environment gives it: lists of numpy numbers."""
    random = np.random.RandomState(0)
    return list(random.uniform(-1, 1, 7)), [
        list(random.uniform(-1, 1, 5)) for _ in range(num_objects)
    ]


def filled_agent(agent_type: str) -> Any:
    agent = replays.make_agent(agent_type, BUFFER_SIZE=1024)
    actions = ([0.1, -0.2], [0.3, 0.4]) if agent.kind.is_continuous else (np.int64(3), np.int64(24))
    for index in range(STORED):
        state, next_state = observed_state(index % 3), observed_state(1)
        agent.kind.store(
            agent.memory, state, actions[index % 2], np.float64(0.5), next_state, index % 50 == 49
        )
    np.random.seed(0)
    return agent


@pytest.mark.parametrize("agent_type", AGENT_KINDS)
def test_conversions_and_copies_per_greedy_act_call(agent_type: str, calls: Counter[str]) -> None:
    agent = replays.make_agent(agent_type)
    calls.clear()
    agent.kind.act(agent, observed_state())
    moved = {"IQN": 4, "SAC": 5}.get(agent_type, 3)
    read = {"IQN": 3, "Rainbow": 0}.get(agent_type, 1)
    assert (calls["tensor"], calls["float"], calls["to"], calls["cpu"]) == (3, 3, moved, read)
    assert calls["item"] == (agent_type == "Rainbow")


@pytest.mark.parametrize("agent_type", ["AC-IQN", "DDPG"])
def test_a_state_without_objects_moves_a_block_of_zeros(
    agent_type: str, calls: Counter[str]
) -> None:
    agent = replays.make_agent(agent_type)
    calls.clear()
    agent.kind.act(agent, observed_state(num_objects=0))
    assert (calls["tensor"], calls["float"], calls["to"], calls["cpu"], calls["zeros"]) == (
        1,
        1,
        2,
        1,
        1,
    )


@pytest.mark.parametrize("agent_type", ["AC-IQN", "DDPG", "SAC"])
def test_exploring_with_continuous_actions_asks_no_network(
    agent_type: str, calls: Counter[str]
) -> None:
    agent = replays.make_agent(agent_type)
    calls.clear()
    agent.kind.act(agent, observed_state(), eps=1.0)
    assert not calls


@pytest.mark.parametrize(("agent_type", "reads"), [("IQN", 2), ("DQN", 0), ("Rainbow", 0)])
def test_exploring_with_discrete_actions_asks_the_network_in_vain(
    agent_type: str, reads: int, calls: Counter[str]
) -> None:
    agent = replays.make_agent(agent_type)
    calls.clear()
    agent.kind.act(agent, observed_state(), eps=1.0)
    assert calls["tensor"] == 3
    assert calls["cpu"] == reads


@pytest.mark.parametrize("agent_type", AGENT_KINDS)
def test_conversions_and_reads_per_training_call(agent_type: str, calls: Counter[str]) -> None:
    agent = filled_agent(agent_type)
    agent.train()  # the first call also creates the optimizer's state
    calls.clear()
    agent.train()
    assert calls["tensor"] == (10 if agent_type == "Rainbow" else 9)
    assert calls["cpu"] == TRAIN_READS[agent_type]
    assert calls["rand"] == TAU_DRAWS.get(agent_type, 0)


def test_dqn_target_collects_gradients_that_nobody_uses() -> None:
    agent = filled_agent("DQN")
    agent.train()
    assert all(parameter.grad is not None for parameter in agent.policy_target.parameters())


def test_rainbow_keeps_local_noise_and_renews_target_noise() -> None:
    agent = filled_agent("Rainbow")
    layers = agent.policy_local.output_layer_a, agent.policy_target.output_layer_a
    before = [layer.weight_epsilon.clone() for layer in layers]
    agent.train()
    unchanged = [
        torch.equal(*pair)
        for pair in zip(before, (layer.weight_epsilon for layer in layers), strict=True)
    ]
    assert unchanged == [True, False]
