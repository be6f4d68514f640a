"""Updates and decisions in unusual circumstances do what legacy does."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.utils import parameters_to_vector, vector_to_parameters

import patches
import syncprobe
from legacy_marinenav.policy.agent import Agent
from patches.blocks.lazy_losses import LazyLoss
from patches.marinenav.step5_merge.compiled_environment import loading
from patches.marinenav.step5_merge.descent import descend, parameters_of
from tests.patches.marinenav.test_device_replay import transitions
from tests.patches.marinenav.training_runs import AGENTS


def filled(agent_type: str, **options: Any) -> Agent:
    usual = {"BUFFER_SIZE": 400, "BATCH_SIZE": 8, "seed": 1}
    agent = Agent(agent_type=agent_type, **(usual | options))
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


@pytest.mark.parametrize("is_compiled", [False, True])
def test_parameters_that_missed_a_step_have_counts_of_their_own(
    is_compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a critic that sees no objects in some of its batches."""
    if not is_compiled:
        monkeypatch.setattr(loading, "kernels", lambda *_: None)
    first, second = (torch.nn.ModuleList([torch.nn.Linear(3, 2) for _ in "ab"]) for _ in "ab")
    second.load_state_dict(first.state_dict())
    optimizers = [torch.optim.Adam(each.parameters(), lr=0.1) for each in (first, second)]
    for used in ((0, 1), (0,), (0, 1), (0,), (0, 1)):
        ours, theirs = (
            torch.stack([each[index](torch.ones(3)).square().sum() for index in used]).sum()
            for each in (first, second)
        )
        descend(ours, first, optimizers[0])
        optimizers[1].zero_grad()
        theirs.backward()
        torch.nn.utils.clip_grad_norm_(second.parameters(), 0.5)
        optimizers[1].step()
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert one.tolist() == other.tolist()


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
def test_losses_on_a_device_are_lazy_with_step_two_and_arrays_without(agent_type: str) -> None:
    for steps, wanted in (("2", LazyLoss), ("2,5", LazyLoss), ("5", np.ndarray)):
        with syncprobe.record(device="sim"), patches.applied(steps):
            losses = filled(agent_type, device="cuda").train()
        several = losses if isinstance(losses, tuple) else (losses,)
        assert all(type(loss) is wanted for loss in several)


@pytest.mark.parametrize("steps", ["2", "2,5"])
def test_losses_on_the_host_are_arrays(steps: str) -> None:
    with patches.applied(steps):
        loss = filled("DQN").train()
    assert type(loss) is np.ndarray
    assert memoryview(loss).nbytes == 4
    assert torch.from_numpy(loss).item() == float(loss)


def _copy_into_data(network: Any, donor: Any) -> None:
    for mine, theirs in zip(network.parameters(), donor.parameters(), strict=True):
        mine.data.copy_(theirs)


def _put_other_data(network: Any, donor: Any) -> None:
    for mine, theirs in zip(network.parameters(), donor.parameters(), strict=True):
        mine.data = theirs.detach().clone()


def _replace_layers(network: Any, donor: Any) -> None:
    network.hidden_layer_a = copy.deepcopy(donor.hidden_layer_a)
    network.output_layer_v = copy.deepcopy(donor.output_layer_v)


WAYS_TO_CHANGE_WEIGHTS: dict[str, Callable[[Any, Any], object]] = {
    "data.copy_": _copy_into_data,
    "data =": _put_other_data,
    "load_state_dict": lambda network, donor: network.load_state_dict(donor.state_dict()),
    "assign": lambda network, donor: network.load_state_dict(
        copy.deepcopy(donor.state_dict()), assign=True
    ),
    "vector_to_parameters": lambda network, donor: vector_to_parameters(
        parameters_to_vector(donor.parameters()), network.parameters()
    ),
    "layers": _replace_layers,
    "reset_noise": lambda network, _: network.reset_noise(),
}


@pytest.mark.parametrize("way", WAYS_TO_CHANGE_WEIGHTS)
def test_rainbow_acts_with_the_weights_it_has(way: str) -> None:
    states = [item[0] for item in transitions(6, is_discrete=True)]
    donor = Agent(agent_type="Rainbow", BUFFER_SIZE=8, seed=77)
    found = []
    for steps in ("none", "1"):
        with patches.applied(steps, mode="exact"):
            agent = filled("Rainbow")
            act = partial(decide_one_by_one, agent) if steps == "none" else agent.act_batch
            before = act(states, use_eval=False)
            seed_generators(3)
            WAYS_TO_CHANGE_WEIGHTS[way](agent.policy_local, donor.policy_local)
            found.append((before, act(states, use_eval=False)))
    assert found[0] == found[1]
    assert found[0][0] != found[0][1], "nothing changed that could be noticed"


def decide_one_by_one(agent: Agent, states: list[Any], **options: Any) -> list[Any]:
    return [agent.kind.act(agent, state, **options) for state in states]


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
            acting = agent.policy_local.actor if agent.kind.networks else agent.policy_local
            acting.eval()
            seed_generators(7)
            found = agent.act_batch(states, eps=eps, use_eval=use_eval)
        assert acting.training, "in which legacy leaves it, whatever it was in"
        assert (random.random(), np.random.random_sample(), torch.rand(1).item()) == draws
        assert [type(action) for action in found] == [type(action) for action in expected]
        if mode == "exact" or not agent.kind.is_continuous:
            assert found == expected
        else:
            assert np.array(found) == pytest.approx(np.array(expected), abs=1e-6)


@pytest.mark.parametrize("agent_type", ["AC-IQN", "IQN"])
def test_those_averse_to_risk_decide_as_legacy(agent_type: str) -> None:
    states = [item[0] for item in transitions(30, seed=2)]
    legacy = filled(agent_type)
    with patches.applied("all", mode="exact"):
        agent = filled(agent_type)
    for each in (legacy, agent) if agent_type == "IQN" else ():
        with torch.no_grad():
            each.policy_local.cos_embedding.weight.mul_(30)  # so that fractions count
    torch.manual_seed(7)
    expected = [legacy.kind.act(legacy, state, eps=0.0, cvar=0.1) for state in states]
    with patches.applied("all", mode="exact"):
        torch.manual_seed(7)
        assert agent.act_batch(states, cvar=0.1) == expected
        torch.manual_seed(7)
        carefree = agent.act_batch(states)
    assert carefree != expected or agent_type == "AC-IQN", "whose actor knows nothing of risk"


@pytest.mark.parametrize("agent_type", AGENTS)
def test_parameters_are_found_in_the_order_of_torch(agent_type):
    agent = Agent(agent_type=agent_type, BUFFER_SIZE=100)
    for network in agent.kind.networks_of(agent.policy_local):
        found = parameters_of(network)
        assert len(found) == len(list(network.parameters()))
        assert all(one is other for one, other in zip(found, network.parameters(), strict=True))


@pytest.mark.parametrize("agent_type", ["DDPG", "DQN"])
def test_optimizers_can_be_saved_after_a_model_was_loaded(agent_type: str, tmp_path: Path) -> None:
    """They keep the parameters they were built with, and learn of no others."""
    found = []
    for steps in ("none", "all"):
        with patches.applied(steps, mode="exact"):
            agent = filled(agent_type)
            learn(agent, 1)
            agent.save_latest_model(tmp_path)
            agent.load_model(tmp_path)
            learn(agent, 2)
            optimizer = getattr(agent, agent.kind.optimizer_names[0])
            states = optimizer.state_dict()["state"]
            found.append([state["exp_avg"].tolist() for state in states.values()])
    assert found[0] == found[1]


@pytest.mark.parametrize("size", [2, 9, 33])
def test_batches_of_odd_sizes_draw_as_legacy_draws(size: int) -> None:
    """Torch draws normals by sixteen, and what is left over once more."""
    found = []
    for steps in ("none", "all"):
        with patches.applied(steps, mode="exact"):
            agent = filled("SAC", BATCH_SIZE=size)
            found.append((learn(agent, 2), parameters(agent), torch.rand(1).item()))
    assert found[0] == found[1]


@pytest.mark.parametrize("alpha", [1, np.float32(0.1), np.float64(0.1), torch.tensor(0.078)])
def test_certainty_is_worth_whatever_somebody_says(alpha: Any) -> None:
    found = []
    for chosen in ("none", "all"):
        with patches.applied(chosen, mode="exact"):
            agent = filled("SAC")
            agent.alpha = alpha
            found.append((learn(agent, 2), parameters(agent)))
    assert found[0] == found[1]


@pytest.mark.parametrize("gamma", [1, 1.5, np.float32(0.9), torch.tensor(0.9)])
@pytest.mark.parametrize("agent_type", ["DDPG", "DQN", "IQN"])
def test_what_follows_is_worth_whatever_somebody_says(agent_type: str, gamma: Any) -> None:
    found = []
    for chosen in ("none", "all"):
        with patches.applied(chosen, mode="exact"):
            agent = filled(agent_type)
            agent.GAMMA = gamma
            found.append((learn(agent, 2), parameters(agent)))
    assert found[0] == found[1]


@pytest.mark.parametrize("action", [25, -1])
@pytest.mark.parametrize("agent_type", ["DQN", "IQN"])
def test_an_action_that_does_not_exist_is_refused_as_in_legacy(
    agent_type: str, action: int
) -> None:
    with patches.applied("all"):
        agent = filled(agent_type)
        for (own, objects), _, reward, following, done in transitions(400, is_discrete=True):
            agent.memory.add(((own, objects), action, reward, following, done))
        with pytest.raises(RuntimeError, match="out of bounds"):
            agent.train()


@pytest.mark.parametrize("batch", [3, 25])
@pytest.mark.parametrize("agent_type", ["DDPG", "DQN", "Rainbow"])
def test_batches_may_be_as_large_as_anything_else(agent_type: str, batch: int) -> None:
    """Such as the number of robots, or that of actions."""
    found = []
    states = [item[0] for item in transitions(batch)]
    for chosen in ("none", "all"):
        with patches.applied(chosen, mode="exact"):
            agent = filled(agent_type, BATCH_SIZE=batch)
            losses = learn(agent, 2)
            act = getattr(agent, "act_batch", None)
            actions = (
                [agent.kind.act(agent, state, eps=0.5) for state in states]
                if act is None
                else act(states, eps=0.5)
            )
            found.append((losses, actions, learn(agent, 1)))
    assert found[0] == found[1]
