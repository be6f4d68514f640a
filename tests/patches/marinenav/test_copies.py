"""A copied or pickled agent owns its buffers: it acts and trains as the original would have."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch

import patches
from legacy_marinenav.policy.agent import Agent
from tests.patches.marinenav.test_device_replay import transitions
from tests.patches.marinenav.test_updates import filled, learn, parameters, seed_generators
from tests.patches.marinenav.training_runs import AGENTS
from tests.slowness import is_in_share, slow_unless

COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda agent: pickle.loads(pickle.dumps(agent)),
}
STATES = [item[0] for item in transitions(3, seed=2)]


def decide(agent: Agent) -> list[Any]:
    seed_generators(4)
    if hasattr(agent, "act_batch"):
        return agent.act_batch(STATES, use_eval=False)
    return [agent.kind.act(agent, state, use_eval=False) for state in STATES]


def train_on(agent: Agent) -> tuple[Any, ...]:
    return decide(agent), learn(agent, 2), parameters(agent)


@pytest.mark.parametrize(
    ("agent_type", "steps", "how"),
    slow_unless(
        lambda *case: is_in_share(" ".join(case), one_in=3),
        [
            (agent_type, steps, how)
            for agent_type in AGENTS
            for steps, how in (("1,3", "deepcopy"), ("3", "pickle"), ("all", "deepcopy"))
        ],
    ),
)
def test_a_copy_trains_on_as_the_original_would(agent_type: str, steps: str, how: str) -> None:
    found = []
    for chosen in ("none", steps):
        with patches.applied(chosen, mode="exact"):
            agent = filled(agent_type)
            train_on(agent)
            copied = COPIES[how](agent)
            with torch.no_grad():
                next(iter(agent.kind.networks_of(agent.policy_local))).self_encoder[0].bias.add_(1)
            found.append((train_on(copied), train_on(agent), train_on(copied)))
    assert found[0] == found[1]


@pytest.mark.parametrize("agent_type", ["DDPG", "Rainbow"])
def test_a_copy_of_a_torchrl_trainers_agent_owns_its_replay(agent_type: str) -> None:
    from tests.patches.marinenav.training_runs import Run

    with patches.applied("all"):
        agent = Run(agent_type, "torchrl").agent
        vars(agent).pop("train")  # noted by the run, which copies would take along
        for item in transitions(60, is_discrete=not agent.kind.is_continuous):
            agent.kind.store(agent.memory, *item)
        copied = copy.deepcopy(agent)
        expected = copy.deepcopy(agent)
        for item in transitions(60, seed=9, is_discrete=not agent.kind.is_continuous):
            agent.kind.store(agent.memory, *item)
        learn(agent, 2)
        assert learn(copied, 2) == learn(expected, 2)
