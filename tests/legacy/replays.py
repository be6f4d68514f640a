"""Steps that several golden replays of agents and trainers share."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from legacy_marinenav.policy.agent import Agent
from tests.legacy import golden

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.legacy.kinds import Kinds

NAMES = {
    "AC-IQN": "ac_iqn",
    "IQN": "iqn",
    "DDPG": "ddpg",
    "DQN": "dqn",
    "SAC": "sac",
    "Rainbow": "rainbow",
}


SINGLE_WEIGHTS = ("name", "kind", "shape", "first4", "last2")
SUMS = ("sum", "abs_sum", "sq_sum")
"""What the recording keeps of a tensor: a few of its values, and sums over all of them."""


def case_id(case: dict[str, Any]) -> str:
    return case["id"]


def make_agent(agent_type: str, **arguments: Any) -> Agent:
    """A small agent as the recording built it, unless told otherwise."""
    defaults = {"device": "cpu", "seed": 100, "BUFFER_SIZE": 5000}
    return Agent(agent_type=agent_type, **{**defaults, **arguments})


def seed_all(seeds: dict[str, int]) -> None:
    random.seed(seeds["python"])
    np.random.seed(seeds["numpy"])
    torch.manual_seed(seeds["torch"])


def probe_generators() -> list[float]:
    """One more draw from each generator: equal probes mean equally many draws before."""
    return [random.random(), np.random.random_sample(), torch.rand(1, dtype=torch.float64).item()]


def robot_state(
    own: np.ndarray, objects: np.ndarray, count: int
) -> tuple[list[float], list[list[float]]]:
    """A state as the recorder handed it over: lists of Python floats, objects without padding."""
    return own.tolist(), objects[:count].tolist()


def fill(agent: Agent, transitions: dict[str, np.ndarray], count: int) -> None:
    """Put the first recorded transitions into the agent's memory."""
    actions = transitions["action_cont" if agent.kind.is_continuous else "action_disc"].tolist()
    for index in range(count):
        agent.kind.store(
            agent.memory,
            robot_state(
                transitions["self"][index], transitions["obj"][index], transitions["cnt"][index]
            ),
            actions[index],
            float(transitions["reward"][index]),
            robot_state(
                transitions["next_self"][index],
                transitions["next_obj"][index],
                transitions["next_cnt"][index],
            ),
            bool(transitions["done"][index]),
        )


def named_tensors(agent: Agent, policy: Any) -> Iterable[tuple[str, str, torch.Tensor]]:
    """Name, kind and value of each tensor of a policy, in registration order."""
    prefixes = [f"{name}." for name in agent.kind.networks] or [""]
    networks = list(agent.kind.networks_of(policy))
    for prefix, network in zip(prefixes, networks, strict=True):
        for name, tensor in network.named_parameters():
            yield prefix + name, "parameter", tensor
    for prefix, network in zip(prefixes, networks, strict=True):
        for name, tensor in network.named_buffers():
            yield prefix + name, "buffer", tensor


def summarize(agent: Agent, policy: Any) -> list[dict[str, Any]]:
    """What the recording keeps of each tensor of a policy."""
    return [describe(*entry) for entry in named_tensors(agent, policy)]


def describe(name: str, kind: str, tensor: torch.Tensor) -> dict[str, Any]:
    values = tensor.detach().numpy().astype(np.float64).ravel()
    return {
        "name": name,
        "kind": kind,
        "shape": list(tensor.shape),
        "sum": exact_sum(values),
        "abs_sum": exact_sum(np.abs(values)),
        "sq_sum": exact_sum(values * values),
        "first4": values[:4].tolist(),
        "last2": values[-2:].tolist(),
    }


def exact_sum(values: np.ndarray) -> float:
    return math.fsum(values.tolist())


def check_policies(
    recorded: dict[str, Any],
    agent: Agent,
    what: str,
    tally: golden.Tally,
    made_of: Kinds,
) -> None:
    """Hold the agent's policies to recorded summaries, keyed by local and target."""
    policies = {"local": agent.policy_local, "target": agent.policy_target}
    for key, expected in recorded.items():
        actual = summarize(agent, policies[key])
        for names, tolerance in (SINGLE_WEIGHTS, golden.WEIGHT), (SUMS, golden.SUM_OF_WEIGHTS):
            pair = (pick(expected, names), pick(actual, names))
            golden.assert_json_matches(f"{what}.{key}", *pair, tally, tolerance, made_of)


def pick(summaries: list[dict[str, Any]], names: tuple[str, ...]) -> list[dict[str, Any]]:
    assert all(set(each) == {*SINGLE_WEIGHTS, *SUMS} for each in summaries)
    return [{name: each[name] for name in names} for each in summaries]


def check_head(recorded: golden.Arrays, key: str, value: torch.Tensor) -> None:
    """Check the rows of a batch that were recorded, which are its first ones."""
    rows = len(recorded.given(key))
    tolerance = golden.LOG_PROB if key.endswith("_log_prob") else golden.NETWORK
    recorded.check(key, value[:rows], tolerance)


def load_inputs(kind: str, tally: golden.Tally) -> dict[str, np.ndarray]:
    """The arrays that several replays start from."""
    (case,) = golden.cases(kind)
    with golden.open_arrays(case, tally) as recorded:
        return {key: recorded.given(key) for key in recorded.keys()}  # noqa: SIM118
