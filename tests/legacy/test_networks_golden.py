"""Networks against the recording: initial weights, generator positions and forward passes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from tests.legacy import golden, kinds, replays

if TYPE_CHECKING:
    from collections.abc import Callable

    from legacy_marinenav.policy.agent import Agent

CASES = golden.cases("forward")


@pytest.mark.parametrize("agent_type", replays.NAMES)
def test_initial_weights_and_generators_are_as_recorded(
    agent_type: str, tally: golden.Tally
) -> None:
    recorded = golden.load_json("net_params.json", tally)[agent_type]
    seed_for_probe()
    agent = replays.make_agent(**recorded["constructor"])
    probe = recorded["rng_probe_after_construction"]
    assert replays.probe_generators() == [probe["python"], probe["numpy"], probe["torch"]]
    made_of = kinds.initial_weights(agent_type)
    policies = {key: recorded[key] for key in ("local", "target")}
    replays.check_policies(policies, agent, agent_type, tally, made_of)


def seed_for_probe() -> None:
    random.seed(1)
    np.random.seed(2)
    torch.manual_seed(3)


def test_rainbow_noise_is_as_recorded_after_a_reset(tally: golden.Tally) -> None:
    recorded = golden.load_json("net_params.json", tally)["Rainbow"]["local_after_reset_noise"]
    (case,) = [case for case in CASES if case["constructor"]["agent_type"] == "Rainbow"]
    agent = replays.make_agent("Rainbow")
    torch.manual_seed(case["torch_seed_before_each_call"])
    agent.policy_local.reset_noise()
    buffers = [
        entry for entry in replays.summarize(agent, agent.policy_local) if entry["kind"] == "buffer"
    ]
    for names, tolerance in (
        (replays.SINGLE_WEIGHTS, golden.WEIGHT),
        (replays.SUMS, golden.SUM_OF_WEIGHTS),
    ):
        pair = (replays.pick(recorded, names), replays.pick(buffers, names))
        golden.assert_json_matches("Rainbow noise", *pair, tally, tolerance, kinds.NOISE)


@pytest.mark.parametrize("case", CASES, ids=replays.case_id)
def test_forward_passes_are_as_recorded(case: dict[str, Any], tally: golden.Tally) -> None:
    agent = replays.make_agent(**case["constructor"])
    seed = case["torch_seed_before_each_call"]
    batches = golden.cases("net_inputs")[0]["batches"]
    outputs = FORWARDS[agent.agent_type]
    given = replays.load_inputs("net_inputs", tally)
    with golden.open_arrays(case, tally) as recorded, torch.no_grad():
        for mode in ("train", "eval"):
            for network in agent.kind.networks_of(agent.policy_local):
                network.train(mode == "train")
            for size, (start, stop) in batches.items():
                rows = slice(start, stop)
                actions = torch.from_numpy(given["critic_actions"][rows])
                for objects in ("obj", "none"):
                    state = network_state(given, rows, objects)
                    for name, value in outputs(agent, state, actions, seed).items():
                        key = f"{mode}_b{size}_{objects}_{name}"
                        if key in recorded:
                            replays.check_head(recorded, key, value)
        if agent.agent_type == "Rainbow":
            check_renoised(agent, recorded, given, batches, seed)


def network_state(given: dict[str, np.ndarray], rows: slice, objects: str) -> tuple[Any, Any, Any]:
    own = torch.from_numpy(given["self"][rows])
    if objects == "none":
        return own, None, None
    counts = torch.from_numpy(given["cnt"][rows])
    mask = (torch.arange(5)[None] < counts[:, None]).float()
    return own, torch.from_numpy(given["obj"][rows]), mask


def forward_ac_iqn(
    agent: Agent, state: Any, actions: torch.Tensor, seed: int
) -> dict[str, torch.Tensor]:
    policy = agent.policy_local
    torch.manual_seed(seed)
    critic, taus = policy.critic(state, actions)
    torch.manual_seed(seed)
    critic_32, taus_32 = policy.critic(state, actions, 32, 0.5)
    return {
        "actor": policy.actor(state),
        "critic": critic,
        "taus": taus,
        "critic_k32_cvar05": critic_32,
        "taus_k32_cvar05": taus_32,
    }


def forward_ddpg(
    agent: Agent, state: Any, actions: torch.Tensor, seed: int
) -> dict[str, torch.Tensor]:
    policy = agent.policy_local
    return {"actor": policy.actor(state), "critic": policy.critic(state, actions)}


def forward_sac(
    agent: Agent, state: Any, actions: torch.Tensor, seed: int
) -> dict[str, torch.Tensor]:
    policy = agent.policy_local
    torch.manual_seed(seed)
    sampled, log_prob = policy.actor(state)
    return {
        "actor": sampled,
        "log_prob": log_prob,
        "critic_1": policy.critic_1(state, actions),
        "critic_2": policy.critic_2(state, actions),
    }


def forward_iqn(
    agent: Agent, state: Any, actions: torch.Tensor, seed: int
) -> dict[str, torch.Tensor]:
    torch.manual_seed(seed)
    quantiles, taus = agent.policy_local(state)
    torch.manual_seed(seed)
    quantiles_32, taus_32 = agent.policy_local(state, 32, 0.5)
    return {
        "quantiles": quantiles,
        "mean": quantiles.mean(dim=1),
        "taus": taus,
        "mean_k32_cvar05": quantiles_32.mean(dim=1),
        "taus_k32_cvar05": taus_32,
    }


def forward_dqn(
    agent: Agent, state: Any, actions: torch.Tensor, seed: int
) -> dict[str, torch.Tensor]:
    return {"q": agent.policy_local(state)}


def forward_rainbow(
    agent: Agent, state: Any, actions: torch.Tensor, seed: int
) -> dict[str, torch.Tensor]:
    probs = agent.policy_local(state)
    return {
        "probs": probs,
        "expectation": (probs * agent.support).sum(2),
        "log_probs": agent.policy_local(state, log=True),
    }


def check_renoised(
    agent: Agent,
    recorded: golden.Arrays,
    given: dict[str, np.ndarray],
    batches: dict[str, Any],
    seed: int,
) -> None:
    torch.manual_seed(seed)
    agent.policy_local.train()
    agent.policy_local.reset_noise()
    for size, (start, stop) in batches.items():
        for objects in ("obj", "none"):
            state = network_state(given, slice(start, stop), objects)
            for name, value in forward_rainbow(agent, state, None, seed).items():
                key = f"renoised_b{size}_{objects}_{name}"
                if key in recorded:
                    replays.check_head(recorded, key, value)


FORWARDS: dict[str, Callable[..., dict[str, torch.Tensor]]] = {
    "AC-IQN": forward_ac_iqn,
    "IQN": forward_iqn,
    "DDPG": forward_ddpg,
    "DQN": forward_dqn,
    "SAC": forward_sac,
    "Rainbow": forward_rainbow,
}
