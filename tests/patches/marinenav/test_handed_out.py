"""What is handed out stays what it was: callers keep it, and look at it when the buffers hold something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import patches
import syncprobe
from legacy_marinenav import MarineNavTorchRLEnv, PolicyWrapper
from legacy_marinenav.policy.agent import Agent
from legacy_marinenav.policy.updates import actor_critic, value_based
from tests.patches.marinenav.test_device_replay import transitions
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


@pytest.mark.parametrize("steps", ["3", "4"])
@pytest.mark.parametrize("agent_type", ["DDPG", "DQN"])
def test_a_batch_that_saw_nothing_has_no_objects(agent_type: str, steps: str) -> None:
    found = []
    for chosen in ("none", steps):
        with patches.applied(chosen):
            agent = filled(agent_type)
            agent.memory = type(agent.memory)(40, 8, 5, 5)
            for (own, _), *rest in transitions(12, is_discrete=agent_type == "DQN"):
                agent.kind.store(agent.memory, (own, []), *rest)
            seed_generators(6)
            found.append([_plain(each) for each in batch(agent)])
    assert found[0][1] is found[1][1] is None
    assert repr(found[0]) == repr(found[1])


def test_actions_that_robots_remember_stay_what_they_were() -> None:
    """On a device they are read into memory that the next step reads into again."""
    found = []
    for chosen in ("none", "2,3"):
        with syncprobe.record(device="sim"), patches.applied(chosen):
            environment = MarineNavTorchRLEnv(seed=3, is_eval_env=True, device="cuda")
            observation = environment.reset()
            for thrust in (0.25, -0.5):
                actions = torch.full((environment.num_robots, 2), thrust).to("cuda")
                observation["action"] = actions
                observation = environment.step(observation)
            found.append([_plain(robot.action_history) for robot in environment.robots])
    assert found[0] == found[1]
    assert found[0][0] == [[0.25, 0.25], [-0.5, -0.5]]


def test_what_a_policy_was_told_and_says_stays_what_it_was() -> None:
    with patches.applied("all"):
        wrapper = PolicyWrapper(Agent(agent_type="DDPG", BUFFER_SIZE=100))
        wrapper.set_epsilon(1.0)
        environment = MarineNavTorchRLEnv(seed=3, device="cpu")
        observation = wrapper(environment.reset())
        kept = {name: observation[name] for name in ("action", "self_state")}
        before = {name: each.clone() for name, each in kept.items()}
        later = wrapper(environment.step(observation))
        for name, each in kept.items():
            assert torch.equal(each, before[name])
            assert not torch.equal(each, later[name])


def _plain(each: Any) -> Any:
    if each is None:
        return None
    return each.tolist() if hasattr(each, "tolist") else [_plain(part) for part in each]
