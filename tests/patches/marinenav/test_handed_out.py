"""What is handed out stays what it was: callers keep it, and look at it when the buffers hold something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import patches
from legacy_marinenav.policy.agent import Agent
from legacy_marinenav.policy.updates import actor_critic, value_based
from tests.patches.marinenav.test_updates import filled, seed_generators


def states(value: float) -> Any:
    """Own states, objects and masks of two robots, as a batch has them."""
    objects = [[[value] * 5] * 5] * 2
    return [[value] * 7] * 2, objects, [[1.0] * 5] * 2


def state_tensors(agent: Any, turn: int) -> tuple[Any, ...]:
    return tuple(agent.state_to_tensor(states(float(turn))))


def blind_state_tensors(agent: Any, turn: int) -> tuple[Any, ...]:
    own, _, masks = states(float(turn))
    return tuple(agent.state_to_tensor((own, [], masks)))


def fractions(agent: Any, turn: int) -> tuple[Any, ...]:
    torch.manual_seed(turn)
    return tuple(agent.policy_local.calc_cos(2))


HANDED_OUT = {"states": state_tensors, "blind states": blind_state_tensors, "fractions": fractions}


@pytest.mark.parametrize("hand_out", HANDED_OUT.values(), ids=HANDED_OUT)
def test_it_stays_what_it_was(hand_out: Callable[[Any, int], tuple[Any, ...]]) -> None:
    with patches.applied("all"):
        agent = Agent(agent_type="IQN", BUFFER_SIZE=100)
        kept = [each for each in hand_out(agent, 1) if each is not None]
        before = [each.clone() for each in kept]
        later = [each for each in hand_out(agent, 2) if each is not None]
    assert kept
    for one, copy, other in zip(kept, before, later, strict=True):
        assert torch.equal(one, copy)
        assert one.untyped_storage().data_ptr() != other.untyped_storage().data_ptr()


def batch(agent: Any) -> tuple[Any, ...]:
    if agent.kind.is_prioritized:
        return tuple(agent.memory.sample(8)[1:])
    sample = actor_critic.sample_continuous if agent.kind.is_continuous else None
    found = (sample or value_based.sample_discrete)(agent)
    return (*found.states, found.actions, found.rewards, *found.next_states, found.dones)


@pytest.mark.parametrize("steps", ["3", "4", "3,4"])
@pytest.mark.parametrize("agent_type", ["DDPG", "DQN", "Rainbow"])
def test_a_batch_stays_what_it_was(agent_type: str, steps: str) -> None:
    found = []
    for chosen in ("none", steps):
        with patches.applied(chosen):
            agent = filled(agent_type)
            seed_generators(6)
            kept = [batch(agent) for _ in range(3)]
            found.append([[_plain(each) for each in one] for one in kept])
    assert repr(found[0]) == repr(found[1])


def _plain(each: Any) -> Any:
    return each.tolist() if hasattr(each, "tolist") else [_plain(part) for part in each]
