"""What people do with agents: move, share, wrap, load and send them; patched ones follow legacy there."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import patches
import syncprobe
from legacy_marinenav.policy.agent import Agent
from tests.patches.marinenav import training_runs
from tests.patches.marinenav.test_customised import STATES, decide
from tests.patches.marinenav.test_device_replay import transitions
from tests.patches.marinenav.test_updates import filled, learn, seed_generators

BLIND = [(own, []) for own, _ in STATES]


def do(agent: Any, seed: int = 3) -> list[Any]:
    """Everything an agent does between two looks at it."""
    for item in transitions(5, seed=seed, is_discrete=not agent.kind.is_continuous):
        agent.kind.store(agent.memory, *item)
    return [decide(agent), decide(agent, BLIND), learn(agent, 2)]


def weights(agent: Any) -> list[Any]:
    return [
        each.cpu().tolist()
        for policy in (agent.policy_local, agent.policy_target)
        for network in agent.kind.networks_of(policy)
        for each in network.state_dict().values()
    ]


def both(scenario: Callable[[], Any], steps: str = "all") -> list[Any]:
    found = []
    for chosen in ("none", steps):
        with patches.applied(chosen, mode="exact"):
            found.append(scenario())
    return found


def move(agent: Any, device: str) -> None:
    """All of an agent: networks, what they keep beside their parameters, and averages of optimizers."""
    holders = {id(agent): agent, id(agent.memory): agent.memory}
    for policy in (agent.policy_local, agent.policy_target):
        holders |= {id(each): each for each in (policy, *agent.kind.networks_of(policy))}
    for holder in holders.values():
        if isinstance(holder, nn.Module):
            holder.to(device)
        for name, value in list(vars(holder).items()):
            if isinstance(value, torch.Tensor):
                setattr(holder, name, value.to(device))
            elif name == "device":
                holder.device = device
    for name in agent.kind.optimizer_names:
        for state in getattr(agent, name).state.values():
            state.update({key: state[key].to(device) for key in ("exp_avg", "exp_avg_sq")})


@pytest.mark.parametrize("steps", ["3", "all"])
@pytest.mark.parametrize("agent_type", ["DDPG", "IQN"])
def test_an_agent_moves_between_devices(agent_type: str, steps: str) -> None:
    def scenario() -> Any:
        with syncprobe.record(device="sim"):
            agent = filled(agent_type)
            found = []
            for device in ("cpu", "cuda", "cpu", "cuda"):
                move(agent, device)
                found.append(do(agent))
            return found, weights(agent)

    legacy, patched = both(scenario, steps)
    assert legacy == patched


@pytest.mark.parametrize("agent_type", ["DDPG", "Rainbow"])
def test_agents_take_turns(agent_type: str) -> None:
    def scenario() -> Any:
        agents = [filled(agent_type), filled("DQN"), filled(agent_type, LR=1e-2)]
        found = [do(agent, turn) for turn in range(2) for agent in agents]
        return found, [weights(agent) for agent in agents]

    legacy, patched = both(scenario)
    assert legacy == patched


@pytest.mark.parametrize("agent_type", ["DDPG", "Rainbow"])
def test_agents_share_a_memory(agent_type: str) -> None:
    def scenario() -> Any:
        agents = [
            filled(agent_type),
            Agent(agent_type=agent_type, BUFFER_SIZE=400, BATCH_SIZE=8, seed=5),
        ]
        agents[1].memory = agents[0].memory
        found = [do(agent, turn) for turn in range(2) for agent in agents]
        return found, [weights(agent) for agent in agents]

    legacy, patched = both(scenario)
    assert legacy == patched


@pytest.mark.parametrize("agent_type", ["DDPG", "Rainbow"])
def test_a_shallow_copy_shares_what_legacys_would(agent_type: str) -> None:
    def scenario() -> Any:
        agent = filled(agent_type)
        found = [do(agent)]
        copied = copy.copy(agent)
        found += [do(copied), do(agent)]
        copied.policy_target = copy.deepcopy(copied.policy_target)
        return [*found, do(copied), do(agent)], weights(agent), weights(copied)

    legacy, patched = both(scenario)
    assert legacy == patched


@pytest.mark.parametrize("agent_type", ["DDPG", "Rainbow"])
def test_states_of_an_unpatched_run_are_loaded_in_the_middle(agent_type: str) -> None:
    source = filled(agent_type)
    learn(source, 3)
    networks, optimizers = (
        [each.state_dict() for each in some] for some in (_networks(source), _optimizers(source))
    )

    def scenario() -> Any:
        agent = filled(agent_type)
        found = [do(agent)]
        for network, state in zip(_networks(agent), networks, strict=True):
            network.load_state_dict(state)
        for optimizer, state in zip(_optimizers(agent), optimizers, strict=True):
            optimizer.load_state_dict(copy.deepcopy(state))
        return [*found, do(agent), do(agent)], weights(agent)

    legacy, patched = both(scenario)
    assert legacy == patched


def _networks(agent: Any) -> list[Any]:
    return [
        network
        for policy in (agent.policy_local, agent.policy_target)
        for network in agent.kind.networks_of(policy)
    ]


def _optimizers(agent: Any) -> list[Any]:
    return [getattr(agent, name) for name in agent.kind.optimizer_names]


def test_evaluation_is_without_noise_and_without_chance() -> None:
    def scenario() -> Any:
        trainer = training_runs.Run("Rainbow", "original").trainer
        seed_generators(4)
        states = trainer._reset_evaluation(trainer.eval_config[0])
        for _ in range(4):
            states, rewards = trainer._step_evaluation(states)
        history = [robot.action_history for robot in trainer.eval_env.robots]
        return repr(history), repr(rewards), torch.rand(2).tolist(), random.random()

    legacy, patched = both(scenario, "1")
    assert legacy == patched


def test_a_wrapped_network_is_asked() -> None:
    def scenario() -> Any:
        agent = filled("DDPG")
        agent.policy_local.actor = nn.DataParallel(agent.policy_local.actor)
        return do(agent), do(agent), weights(agent)

    legacy, patched = both(scenario)
    assert legacy == patched


def _train_elsewhere(pickled: bytes, steps: str, answers: Any) -> None:
    with patches.applied(steps, mode="exact"):
        agent = pickle.loads(pickled)
        answers.send((do(agent), weights(agent)))


@pytest.mark.slow
@pytest.mark.parametrize("elsewhere", ["none", "all"])
def test_an_agent_trains_on_in_a_spawned_process(elsewhere: str) -> None:
    """Whether patches are on there or not: it is an agent of its own, with what it knows."""
    context = multiprocessing.get_context("spawn")
    found = []
    for steps in ("none", "all"):
        with patches.applied(steps, mode="exact"):
            agent = filled("DDPG")
            do(agent)
            pickled = pickle.dumps(agent)
        receiving, sending = context.Pipe(duplex=False)
        arguments = (pickled, elsewhere if steps == "all" else "none", sending)
        child = context.Process(target=_train_elsewhere, args=arguments)
        child.start()
        sending.close()  # so that a child that fails is noticed at once
        found.append(receiving.recv())
        child.join()
    assert found[0] == found[1]


@pytest.mark.parametrize("steps", ["1", "all"])
def test_robots_that_have_arrived_are_asked_no_more(steps: str) -> None:
    def scenario() -> Any:
        run = training_runs.Run("DQN", "original")
        observation = run.trainer._reset_training()
        first = run.simulator.robots[0]
        first.deactivated = first.reach_goal = True
        run.trainer._step_training(observation, 0.5)
        return run.actions, random.random()

    legacy, patched = both(scenario, steps)
    assert legacy == patched
    assert legacy[0][0][0] is None
