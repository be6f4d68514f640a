"""Agents apart from the recording: errors, saved models, and quirks that users rely on."""

from __future__ import annotations

import itertools
import json
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from legacy_marinenav.errors import ModelDirectoryError, ReplaySamplingError, UnknownAgentTypeError
from legacy_marinenav.policy.agent import Agent, calculate_huber_loss
from legacy_marinenav.policy.agent_kinds import AGENT_KINDS, agent_kind
from tests.legacy import replays

if TYPE_CHECKING:
    from pathlib import Path

MODEL_FILES = {
    "AC-IQN": [
        "actor_constructor_params.json",
        "actor_network_params.pth",
        "critic_constructor_params.json",
        "critic_network_params.pth",
    ],
    "SAC": [
        "actor_constructor_params.json",
        "actor_network_params.pth",
        "critic_1_constructor_params.json",
        "critic_1_params.pth",
        "critic_2_constructor_params.json",
        "critic_2_params.pth",
    ],
    "DQN": ["constructor_params.json", "network_params.pth"],
}
MODEL_FILES |= {
    "DDPG": MODEL_FILES["AC-IQN"],
    "IQN": MODEL_FILES["DQN"],
    "Rainbow": MODEL_FILES["DQN"],
}
LAST_SEED = {"AC-IQN": 1, "DDPG": 1, "SAC": 2}
"""What torch is seeded with when a default policy has been built; the others reuse the stored seed."""

STATE = ([0.1] * 7, [[0.2] * 5])


@pytest.mark.parametrize(
    ("agent_type", "hint"),
    [("rainbow", "'Rainbow'"), ("AC_IQN", "'AC-IQN'"), ("SACK", "'SAC'"), (None, "")],
)
def test_unknown_agent_type_names_the_allowed_ones(agent_type: Any, hint: str) -> None:
    with pytest.raises(
        RuntimeError, match=r"agent_type: .*AC-IQN, IQN, DDPG, DQN, SAC, Rainbow"
    ) as caught:
        Agent(agent_type=agent_type)
    assert hint in str(caught.value)


@pytest.mark.parametrize("agent_type", AGENT_KINDS)
def test_saved_model_acts_as_before(agent_type: str, tmp_path: Path) -> None:
    saved = replays.make_agent(agent_type, seed=5)
    saved.save_latest_model(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == MODEL_FILES[agent_type]

    loaded = replays.make_agent(agent_type, seed=6)
    loaded.load_model(tmp_path)
    actions = []
    for agent in (saved, loaded):
        replays.seed_all({"python": 1, "numpy": 2, "torch": 3})
        actions.append([agent.kind.act(agent, STATE) for _ in range(5)])
    assert actions[0] == actions[1]
    summaries = [replays.summarize(agent, agent.policy_local) for agent in (saved, loaded)]
    assert summaries[0] == summaries[1]


@pytest.mark.parametrize("agent_type", AGENT_KINDS)
def test_loading_reseeds_torch_and_leaves_the_target_alone(agent_type: str, tmp_path: Path) -> None:
    replays.make_agent(agent_type, seed=5).save_latest_model(tmp_path)
    agent = replays.make_agent(agent_type, seed=6)
    target = replays.summarize(agent, agent.policy_target)
    torch.manual_seed(999)
    agent.load_model(tmp_path)
    assert torch.initial_seed() == LAST_SEED.get(agent_type, 5)
    assert replays.summarize(agent, agent.policy_target) == target
    local = {
        id(parameter)
        for network in agent.kind.networks_of(agent.policy_local)
        for parameter in network.parameters()
    }
    optimized = getattr(agent, agent.kind.optimizer_names[0]).param_groups[0]["params"]
    assert not any(id(parameter) in local for parameter in optimized)


@pytest.mark.parametrize("agent_type", AGENT_KINDS)
def test_constructor_parameters_end_with_the_seed(agent_type: str, tmp_path: Path) -> None:
    replays.make_agent(agent_type, seed=5).save_latest_model(tmp_path)
    for offset, path in enumerate(sorted(tmp_path.glob("*.json"))):
        parameters = json.loads(path.read_text())
        assert next(iter(parameters)) == "self_dimension"
        assert list(parameters)[-1] == "seed"
        assert parameters["seed"] == 5 + offset
        assert "device" not in parameters
        assert "min_log_std" not in parameters


def remove_everything(directory: Path) -> None:
    for path in directory.iterdir():
        path.unlink()


def break_json(directory: Path) -> None:
    for path in directory.glob("*.json"):
        path.write_text("{")


def break_arguments(directory: Path) -> None:
    for path in directory.glob("*.json"):
        path.write_text("[1, 2]")


def break_weights(directory: Path) -> None:
    for path in directory.glob("*.pth"):
        path.write_bytes(path.read_bytes()[:100])


def empty_weights(directory: Path) -> None:
    for path in directory.glob("*.pth"):
        path.write_bytes(b"")


def poison_weights(directory: Path) -> None:
    for path in directory.glob("*.pth"):
        path.write_bytes(pickle.dumps(print))


@pytest.mark.parametrize(
    "damage",
    [remove_everything, break_json, break_arguments, break_weights, empty_weights, poison_weights],
)
@pytest.mark.parametrize("agent_type", ["AC-IQN", "SAC", "DQN"])
def test_damaged_model_directory_is_refused_in_one_line(
    agent_type: str, damage: Any, tmp_path: Path
) -> None:
    agent = replays.make_agent(agent_type)
    agent.save_latest_model(tmp_path)
    damage(tmp_path)
    with pytest.raises(
        ModelDirectoryError, match=rf"load_model: .*holds no {agent_type} policy"
    ) as caught:
        agent.load_model(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("stored_type", "wanted_type"), list(itertools.permutations(AGENT_KINDS, 2))
)
def test_model_of_another_agent_type_is_refused(
    stored_type: str, wanted_type: str, tmp_path: Path
) -> None:
    replays.make_agent(stored_type, BUFFER_SIZE=64).save_latest_model(tmp_path)
    with pytest.raises(ModelDirectoryError, match=f"holds no {wanted_type} policy"):
        agent_kind(wanted_type).load_policy(tmp_path)


def test_missing_model_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelDirectoryError, match="is not a directory"):
        replays.make_agent("DQN").load_model(tmp_path / "nowhere")


def test_agent_without_training_has_neither_policy_nor_memory() -> None:
    agent = Agent(agent_type="DQN", training=False)
    assert not hasattr(agent, "policy_local")
    assert not hasattr(agent, "memory")


@pytest.mark.parametrize("agent_type", AGENT_KINDS)
def test_network_is_in_training_mode_after_acting(agent_type: str) -> None:
    agent = replays.make_agent(agent_type)
    for use_eval in (True, False):
        agent.kind.act(agent, STATE, use_eval=use_eval)
        assert all(network.training for network in agent.kind.networks_of(agent.policy_local))


def test_empty_objects_and_masked_objects_give_the_same_features() -> None:
    network = replays.make_agent("DQN").policy_local
    own = torch.rand(3, 7)
    masked = network.observation_features((own, torch.rand(3, 5, 5), torch.zeros(3, 5)))
    assert torch.equal(network.observation_features((own, None, None)), masked)


def test_huber_loss_is_quadratic_then_linear() -> None:
    errors = torch.zeros(2, 8, 8)
    errors[0, 0, :3] = torch.tensor([0.5, -2.0, 1.0])
    assert calculate_huber_loss(errors, 1.0)[0, 0, :4].tolist() == [0.125, 1.5, 0.5, 0.0]
    with pytest.raises(AssertionError):
        calculate_huber_loss(torch.zeros(2, 8, 4), 1.0)


def test_soft_update_mixes_parameters_but_not_noise() -> None:
    agent = replays.make_agent("Rainbow", TAU=0.25)
    local, target = agent.policy_local.output_layer_v, agent.policy_target.output_layer_v
    local.weight_mu.data.fill_(4.0)
    target.weight_mu.data.fill_(8.0)
    local.reset_noise()
    noise = target.weight_epsilon.clone()
    agent.soft_update()
    assert torch.equal(target.weight_mu.data, torch.full_like(target.weight_mu, 7.0))
    assert torch.equal(target.weight_epsilon, noise)


@pytest.mark.parametrize(
    "error",
    [
        UnknownAgentTypeError("x", ("DQN",)),
        ModelDirectoryError("there", "is empty"),
        ReplaySamplingError(stored=1, batch_size=64, attempts=2, newest_mass=1.0),
    ],
)
def test_errors_survive_the_way_back_from_a_worker_process(error: Exception) -> None:
    restored = pickle.loads(pickle.dumps(error))
    assert type(restored) is type(error)
    assert str(restored) == str(error)
    assert restored.__dict__ == error.__dict__


def test_random_continuous_actions_come_from_numpy_and_discrete_ones_from_python() -> None:
    replays.seed_all({"python": 1, "numpy": 2, "torch": 3})
    continuous = replays.make_agent("DDPG").act_ddpg(STATE, eps=1.0)
    assert continuous == np.random.RandomState(2).uniform(-1, 1, 2).tolist()
