"""Agents, networks and memories that users have changed are asked, as legacy asks them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import patches
from legacy_marinenav.policy import agent as agent_module
from legacy_marinenav.policy.agent import Agent
from legacy_marinenav.policy.replay_buffer import ReplayBuffer
from legacy_marinenav.policy.training_loop import Episode
from patches.errors import UnusualReplayError
from patches.marinenav.guards import learners_of, parameters_to_act, stores_together
from tests.patches.marinenav.test_device_replay import transitions
from tests.patches.marinenav.test_updates import filled, learn, parameters, seed_generators
from tests.patches.marinenav.training_runs import AGENTS, Run

STATES = [item[0] for item in transitions(3, seed=2)]


def network_of(agent: Any) -> Any:
    """The network that acts."""
    return agent.policy_local.actor if agent.kind.networks else agent.policy_local


def decide(agent: Any, states: Sequence[Any] = STATES) -> list[Any]:
    seed_generators(4)
    if hasattr(agent, "act_batch"):
        return agent.act_batch(states, use_eval=False)
    return [agent.kind.act(agent, state, use_eval=False) for state in states]


def both(customise: Callable[[Any], Any], agent_type: str, steps: str = "all") -> list[Any]:
    """What legacy and the patches make of an agent that was changed in the same way."""
    found = []
    for chosen in ("none", steps):
        with patches.applied(chosen, mode="exact"):
            agent = filled(agent_type)
            heard = customise(agent)
            found.append((decide(agent), learn(agent, 2), follow(agent), parameters(agent), heard))
    return found


def follow(agent: Any) -> str:
    """Let the targets follow; if they cannot, how that fails."""
    try:
        agent.soft_update()
    except (RuntimeError, ValueError) as error:
        return str(error)
    return ""


@pytest.mark.parametrize("agent_type", AGENTS)
def test_an_ordinary_agent_needs_no_legacy_code(agent_type: str) -> None:
    with patches.applied("all"):
        agent = filled(agent_type)
        assert parameters_to_act(agent)
        assert learners_of(agent)


UNUSUAL = {
    "wider states": {"self_dimension": 9},
    "wider objects": {"object_dimension": 6},
    "fewer objects": {"max_object_num": 3, "concat_feature_dimension": 56 + 3 * 40},
    "three thrusts": {"value_ranges_of_action": [[-1.0, 1.0]] * 3},
}


def unusual_transitions(
    self_dimension: int = 7,
    object_dimension: int = 5,
    max_object_num: int = 5,
    value_ranges_of_action: Sequence[Any] = "ab",
    **_: int,
) -> list[tuple[Any, ...]]:
    random = np.random.RandomState(0)

    def state() -> Any:
        objects = random.randn(random.randint(0, max_object_num + 1), object_dimension)
        return random.randn(self_dimension).tolist(), objects.tolist()

    actions = random.uniform(-1, 1, (30, len(value_ranges_of_action))).tolist()
    return [(state(), action, random.randn(), state(), False) for action in actions]


@pytest.mark.parametrize("name", UNUSUAL)
def test_an_agent_of_other_dimensions_does_what_legacy_does(name: str) -> None:
    """Rows have a fixed width, which is not that of such an agent."""
    options: dict[str, Any] = UNUSUAL[name]
    items, found = unusual_transitions(**options), []
    for chosen in ("none", "all"):
        with patches.applied(chosen, mode="exact"):
            agent = Agent(agent_type="DDPG", BUFFER_SIZE=40, BATCH_SIZE=8, seed=1, **options)
            for item in items:
                agent.kind.store(agent.memory, *item)
            acted = decide(agent, [item[0] for item in items[:3]])
            found.append((acted, learn(agent, 2), parameters(agent)))
    assert found[0] == found[1]


def own_action(agent: Any) -> Any:
    return [0.5, -0.5] if agent.kind.is_continuous else np.int64(7)


def overriding_on_the_instance(agent: Any) -> list[Any]:
    heard: list[Any] = []

    def act(state: Any, **_: Any) -> Any:
        heard.append(state)
        chosen = own_action(agent)
        return (chosen, None, None) if agent.kind.returns_quantiles else chosen

    setattr(agent, agent.kind.act_method, act)
    return heard


@pytest.mark.parametrize("agent_type", AGENTS)
def test_an_act_method_of_the_instance_is_asked(agent_type: str) -> None:
    legacy, patched = both(overriding_on_the_instance, agent_type)
    assert legacy == patched
    assert len(legacy[4]) == len(STATES)


def test_an_act_method_of_a_subclass_is_asked() -> None:
    class Cautious(Agent):
        def act_ddpg(self, state: Any, eps: float = 0.0, use_eval: bool = True) -> list[float]:
            return [value / 2 for value in super().act_ddpg(state, eps, use_eval)]

    found = []
    for steps in ("none", "all"):
        with patches.applied(steps, mode="exact"):
            found.append(decide(Cautious(agent_type="DDPG", BUFFER_SIZE=10, seed=1)))
    assert found[0] == found[1]


def with_forward_hook(agent: Any) -> list[Any]:
    heard: list[Any] = []
    layer = network_of(agent).self_encoder[0]
    layer.register_forward_hook(lambda *_: heard.append("forward"))
    return heard


def with_changing_hook(agent: Any) -> None:
    network_of(agent).self_encoder.register_forward_hook(lambda _, __, output: output * 0.5)


def with_gradient_hook(agent: Any) -> None:
    network_of(agent).self_encoder[0].weight.register_hook(lambda gradient: gradient * 2.0)


def with_counting_hook(agent: Any) -> list[Any]:
    """On what judges, which gradients of the actor go through, or on the target that legacy asks for gradients, too."""
    heard: list[Any] = []
    policy = agent.policy_local if agent.kind.networks else agent.policy_target
    judge = list(agent.kind.networks_of(policy))[-1]
    judge.self_encoder[0].weight.register_hook(lambda gradient: heard.append(gradient.tolist()))
    return heard


def with_accumulating_hook(agent: Any) -> list[Any]:
    heard: list[Any] = []
    weight = network_of(agent).self_encoder[0].weight
    weight.register_post_accumulate_grad_hook(lambda each: heard.append(each.grad.sum().item()))
    return heard


def with_backward_hook(agent: Any) -> list[Any]:
    heard: list[Any] = []
    network_of(agent).self_encoder.register_full_backward_hook(lambda *_: heard.append("backward"))
    return heard


def with_own_forward(agent: Any) -> None:
    network = network_of(agent)
    forward = network.self_encoder.forward
    network.self_encoder.forward = lambda inputs: forward(inputs) + 0.25


def with_weight_norm(agent: Any) -> None:
    torch.nn.utils.parametrizations.weight_norm(network_of(agent).self_encoder[0])


def with_old_weight_norm(agent: Any) -> None:
    network_of(agent).object_encoder[0] = torch.nn.utils.weight_norm(
        network_of(agent).object_encoder[0]
    )


def with_another_layer(agent: Any) -> None:
    torch.manual_seed(0)
    network_of(agent).self_encoder = nn.Sequential(nn.Linear(7, 56), nn.Tanh())


def with_a_deeper_encoder(agent: Any) -> None:
    torch.manual_seed(0)
    network_of(agent).self_encoder.append(nn.Linear(56, 56))


def with_no_bias(agent: Any) -> None:
    network_of(agent).self_encoder[0].bias = None


def with_a_weight_that_is_no_parameter(agent: Any) -> None:
    layer = network_of(agent).self_encoder[0]
    weight = layer.weight.detach() / 2
    del layer.weight
    layer.weight = weight


def with_frozen_encoder(agent: Any) -> None:
    network_of(agent).self_encoder.requires_grad_(False)
    network_of(agent).object_encoder.requires_grad_(False)


def with_scheduler(agent: Any) -> Any:
    optimizer = getattr(agent, agent.kind.optimizer_names[0])
    return torch.optim.lr_scheduler.StepLR(optimizer, 1).get_last_lr()


def with_tied_biases(agent: Any) -> None:
    network = list(agent.kind.networks_of(agent.policy_local))[-1]
    if agent.kind.is_prioritized:
        network.hidden_layer_v.bias_mu = network.hidden_layer_a.bias_mu
    else:
        network.hidden_layer_2.bias = network.hidden_layer.bias


def with_one_policy(agent: Any) -> None:
    agent.policy_target = agent.policy_local


def with_rate_as_tensor(agent: Any) -> None:
    for name in agent.kind.optimizer_names:
        getattr(agent, name).param_groups[0]["lr"] = torch.tensor(1e-3)


def with_optimizer_of_a_part(agent: Any) -> None:
    networks = agent.kind.networks_of(agent.policy_local)
    for name, network in zip(agent.kind.optimizer_names, networks, strict=True):
        setattr(agent, name, torch.optim.Adam(list(network.parameters())[:2], lr=1e-2))


def with_step_hook(agent: Any) -> list[Any]:
    heard: list[Any] = []
    optimizer = getattr(agent, agent.kind.optimizer_names[0])
    optimizer.register_step_post_hook(
        lambda _, args, kwargs: heard.append((len(args), args[0] is optimizer, kwargs))
    )
    return heard


def with_own_tensors(agent: Any) -> list[Any]:
    state_to_tensor, heard = agent.state_to_tensor, []

    def own_tensors(states: Any) -> Any:
        heard.append(len(states[0]))
        return state_to_tensor(states)

    agent.state_to_tensor = own_tensors
    return heard


def with_another_parameter(agent: Any) -> None:
    network_of(agent).register_parameter("extra", nn.Parameter(torch.ones(3)))


def with_compiled_network(agent: Any) -> list[Any]:
    """In place: the network stays what it is, and its calls go another way."""
    heard: list[Any] = []

    def hand_back(function: Any) -> Any:
        return lambda *inputs, **options: (heard.append("called"), function(*inputs, **options))[1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "compile", hand_back)  # in place of a compiler, which would take long
        network_of(agent).compile()
    return heard


def with_own_memory(agent: Any) -> list[Any]:
    sample = agent.memory.sample
    heard: list[Any] = []

    def own_sample(*args: Any) -> Any:
        heard.append("sample")
        return sample(*args)

    agent.memory.sample = own_sample
    return heard


CUSTOMS = (
    with_forward_hook,
    with_changing_hook,
    with_gradient_hook,
    with_counting_hook,
    with_accumulating_hook,
    with_backward_hook,
    with_own_forward,
    with_weight_norm,
    with_another_layer,
    with_a_deeper_encoder,
    with_no_bias,
    with_frozen_encoder,
    with_scheduler,
    with_tied_biases,
    with_rate_as_tensor,
    with_optimizer_of_a_part,
    with_step_hook,
    with_own_tensors,
    with_another_parameter,
    with_a_weight_that_is_no_parameter,
    with_own_memory,
    with_compiled_network,
)


@pytest.mark.filterwarnings("ignore:Full backward hook")
@pytest.mark.parametrize("custom", CUSTOMS)
@pytest.mark.parametrize("agent_type", ["DDPG", "Rainbow", "DQN"])
def test_a_customised_agent_does_what_legacy_does(
    agent_type: str, custom: Callable[[Any], Any]
) -> None:
    legacy, patched = both(custom, agent_type)
    assert legacy == patched


@pytest.mark.filterwarnings("ignore:.*weight_norm.*:FutureWarning")
def test_weights_normalised_the_old_way_are_computed_as_legacy_does() -> None:
    legacy, patched = both(with_old_weight_norm, "SAC")
    assert legacy == patched


@pytest.mark.parametrize("agent_type", ["DDPG", "DQN"])
def test_a_policy_that_is_its_own_target_learns_as_legacy_does(agent_type: str) -> None:
    legacy, patched = both(with_one_policy, agent_type)
    assert legacy == patched


@pytest.mark.parametrize("agent_type", AGENTS)
def test_a_frozen_encoder_stays_and_the_rest_learns(agent_type: str) -> None:
    legacy, patched = both(with_frozen_encoder, agent_type, "5")
    assert legacy == patched


def test_a_schedule_that_comes_later_hears_of_every_step() -> None:
    """It warns if it is asked for the next rate before its optimizer has stepped."""
    found = []
    for chosen in ("none", "5"):
        with patches.applied(chosen, mode="exact"):
            agent = filled("DQN")
            losses = [learn(agent, 2)]
            schedule = torch.optim.lr_scheduler.StepLR(agent.optimizer, 1)
            losses.append(learn(agent, 1))
            schedule.step()
            losses.append(learn(agent, 1))
            found.append((losses, schedule.get_last_lr(), parameters(agent)))
    assert found[0] == found[1]


@pytest.mark.parametrize("agent_type", ["DDPG", "Rainbow"])
def test_an_encoder_frozen_in_the_middle_keeps_no_gradients(agent_type: str) -> None:
    found = []
    for chosen in ("none", "5"):
        with patches.applied(chosen, mode="exact"):
            agent = filled(agent_type)
            losses = [learn(agent, 2)]
            with_frozen_encoder(agent)
            losses.append(learn(agent, 2))
            gradients = [
                None if each.grad is None else each.grad.tolist()
                for each in network_of(agent).parameters()
            ]
            found.append((losses, gradients, parameters(agent)))
    assert found[0] == found[1]
    assert None in found[0][1]


def frozen_altogether(agent: Any) -> None:
    network_of(agent).requires_grad_(False)


@pytest.mark.parametrize("agent_type", ["DDPG", "SAC"])
def test_a_frozen_actor_leaves_the_critic_to_learn(agent_type: str) -> None:
    legacy, patched = both(frozen_altogether, agent_type)
    assert legacy == patched


def test_a_network_with_nothing_to_learn_fails_as_legacy_does() -> None:
    messages = []
    for steps in ("none", "all"):
        with patches.applied(steps):
            agent = filled("DQN")
            agent.policy_local.requires_grad_(False)
            agent.policy_target.requires_grad_(False)
            with pytest.raises(RuntimeError) as caught:
                agent.train()
            messages.append(str(caught.value))
    assert messages[0] == messages[1]


class Halving(ReplayBuffer):
    def add(self, item: Any) -> None:
        state, action, reward, *rest = item
        super().add((state, action, reward / 2, *rest))


class Raising(ReplayBuffer):
    def sample(self) -> Any:
        states, actions, rewards, *rest = super().sample()
        return states, actions, [reward + 1 for reward in rewards], *rest


class Reversing(ReplayBuffer):
    def state_batch(self, states: list[Any]) -> Any:
        return super().state_batch(states[::-1])


def test_a_memory_that_inherits_from_what_agents_use_is_asked() -> None:
    """With step 4 that is a memory on the device."""
    found = []
    for steps in ("none", "4"):
        with patches.applied(steps, mode="exact"):

            class Signed(agent_module.ReplayBuffer):  # type: ignore[misc, name-defined]  # whatever it is now
                def __init__(self, sign: float, *arguments: Any) -> None:
                    super().__init__(*arguments)
                    self.sign = sign

                def add(self, item: Any) -> None:
                    state, action, reward, *rest = item
                    super().add((state, action, reward * self.sign, *rest))

            agent = filled("DDPG")
            agent.memory = Signed(-1.0, 400, 8, 5, 5)
            found.append(restarted(agent))
    assert found[0] == found[1]


def test_a_memory_that_inherits_seeds_the_generator_as_legacy_does() -> None:
    found = []
    for steps in ("none", "4"):
        with patches.applied(steps):

            class Mine(agent_module.ReplayBuffer):  # type: ignore[misc, name-defined]  # whatever it is now
                pass

            Mine(40, 8, 5, 5, 7)
            found.append(random.random())
    assert found[0] == found[1]


def test_a_memory_on_the_device_has_no_room_for_other_objects() -> None:
    with patches.applied("4"):
        assert type(agent_module.ReplayBuffer(40, 8, 6, 5)) is ReplayBuffer

        class Mine(agent_module.ReplayBuffer):  # type: ignore[misc, name-defined]  # whatever it is now
            pass

        with pytest.raises(
            UnusualReplayError, match=r"Mine inherits .* no room for 5 objects of 6"
        ):
            Mine(40, 8, 6, 5)


@pytest.mark.parametrize("memory", [Halving, Raising, Reversing])
@pytest.mark.parametrize("agent_type", ["DDPG", "DQN"])
def test_a_memory_that_inherits_from_legacys_is_asked(agent_type: str, memory: Any) -> None:
    found = []
    for steps in ("none", "all"):
        with patches.applied(steps, mode="exact"):
            agent = filled(agent_type)
            agent.memory = memory(400, 8, 5, 5)
            found.append(restarted(agent))
    assert found[0] == found[1]


def restarted(agent: Any) -> tuple[Any, ...]:
    """What comes of an agent with an empty memory."""
    items = transitions(60, seed=3, is_discrete=not agent.kind.is_continuous)
    if stores_together(agent):
        agent.memory.extend(items)
    else:
        for item in items:
            agent.kind.store(agent.memory, *item)
    return agent.memory.size(), decide(agent), learn(agent, 2), parameters(agent)


@pytest.mark.parametrize("steps", ["2", "2,4", "all"])
def test_a_memory_of_the_users_own_is_told_one_by_one(steps: str) -> None:
    class Listed(list[Any]):
        def add(self, item: Any) -> None:
            self.append(item)

    found = []
    for chosen in ("none", steps):
        with patches.applied(chosen):
            run = Run("DDPG", "original")
            run.agent.memory = Listed()
            observation = run.trainer._reset_training()
            outcome = run.trainer._step_training(observation, 1.0)
            run.trainer._collect(outcome, Episode(len(outcome.rewards)))
            found.append([repr(item) for item in run.agent.memory])
    assert found[0] == found[1] != []
