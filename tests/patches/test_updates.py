"""Updates and decisions in unusual circumstances do what legacy does."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import patches
from legacy_marinenav.policy.agent import Agent
from patches.descent import parameters_of
from patches.lazy_losses import LazyLoss
from tests.patches.test_device_replay import transitions
from tests.patches.training_runs import AGENTS


def filled(agent_type: str, **options: Any) -> Agent:
    agent = Agent(agent_type=agent_type, BUFFER_SIZE=400, BATCH_SIZE=8, seed=1, **options)
    for item in transitions(120, is_discrete=not agent.kind.is_continuous):
        agent.kind.store(agent.memory, *item)
    return agent


def seed_generators(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def learn(agent: Agent, updates: int) -> list[Any]:
    seed_generators(5)
    losses = [agent.train() for _ in range(updates)]
    return [
        [np.asarray(loss).tolist() for loss in (some if isinstance(some, tuple) else (some,))]
        for some in losses
    ]


def parameters(agent: Agent) -> list[Any]:
    return [
        parameter.tolist()
        for policy in (agent.policy_local, agent.policy_target)
        for network in agent.kind.networks_of(policy)
        for parameter in network.parameters()
    ]


@pytest.mark.parametrize("agent_type", AGENTS)
def test_soft_updates_mix_as_legacy_mixes(agent_type: str) -> None:
    found = []
    for steps in ("none", "all"):
        with patches.applied(steps):
            agent = filled(agent_type, TAU=0.3)
            learn(agent, 3)
            agent.soft_update()
            found.append(parameters(agent))
    assert found[0] == found[1]


@pytest.mark.parametrize("agent_type", AGENTS)
def test_training_after_loading_keeps_the_legacy_quirk(agent_type: str, tmp_path: Path) -> None:
    """The optimizers still belong to the networks from before; their parameters are what moves."""
    filled(agent_type).save_latest_model(tmp_path)
    found = []
    for steps in ("none", "all"):
        with patches.applied(steps):
            agent = filled(agent_type)
            learn(agent, 2)
            agent.load_model(tmp_path)
            losses = learn(agent, 3)
            owned = [
                parameter.tolist()
                for name in agent.kind.optimizer_names
                for parameter in getattr(agent, name).param_groups[0]["params"]
            ]
            found.append((losses, parameters(agent), owned))
    assert found[0] == found[1]


@pytest.mark.parametrize("agent_type", AGENTS)
def test_losses_are_lazy_with_step_two_and_arrays_without(agent_type: str) -> None:
    for steps, wanted in (("2", LazyLoss), ("2,5", LazyLoss), ("5", np.ndarray)):
        with patches.applied(steps):
            losses = filled(agent_type).train()
        several = losses if isinstance(losses, tuple) else (losses,)
        assert all(isinstance(loss, wanted) for loss in several)


def test_rainbow_weights_are_computed_again_when_anything_changes() -> None:
    with patches.applied("all", mode="fast"):
        agent = filled("Rainbow")
        states = [item[0] for item in transitions(4, is_discrete=True)]

        def is_fresh() -> bool:
            before = agent.patch_notes.weights
            agent.act_batch(states, use_eval=False)
            return agent.patch_notes.weights is not before

        assert is_fresh()
        assert not is_fresh()
        learn(agent, 1)
        assert is_fresh()
        assert not is_fresh()
        agent.policy_local.reset_noise()
        assert is_fresh()
        agent.policy_local.load_state_dict(agent.policy_target.state_dict())
        assert is_fresh()
        with torch.no_grad():
            agent.policy_local.output_layer_a.bias_sigma.add_(1.0)
        assert is_fresh()


@pytest.mark.parametrize("use_eval", [False, True])
@pytest.mark.parametrize("mode", ["fast", "exact"])
@pytest.mark.parametrize("agent_type", AGENTS)
def test_decisions_draw_and_answer_as_legacy(agent_type: str, mode: str, use_eval: bool) -> None:
    states = [item[0] for item in transitions(9, seed=2)]
    legacy = filled(agent_type)
    for eps in (0.0, 0.5, 1.0):
        seed_generators(7)
        expected = [legacy.kind.act(legacy, state, eps=eps, use_eval=use_eval) for state in states]
        draws = (random.random(), np.random.random_sample(), torch.rand(1).item())
        with patches.applied("all", mode=mode):
            agent = filled(agent_type)
            seed_generators(7)
            found = agent.act_batch(states, eps=eps, use_eval=use_eval)
        assert (random.random(), np.random.random_sample(), torch.rand(1).item()) == draws
        assert [type(action) for action in found] == [type(action) for action in expected]
        if mode == "exact" or not agent.kind.is_continuous:
            assert found == expected
        else:
            assert np.array(found) == pytest.approx(np.array(expected), abs=1e-6)


@pytest.mark.parametrize("agent_type", AGENTS)
def test_parameters_are_found_in_the_order_of_torch(agent_type):
    agent = Agent(agent_type=agent_type, BUFFER_SIZE=100)
    for network in agent.kind.networks_of(agent.policy_local):
        found = parameters_of(network)
        assert len(found) == len(list(network.parameters()))
        assert all(one is other for one, other in zip(found, network.parameters(), strict=True))
