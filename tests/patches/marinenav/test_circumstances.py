"""Where torch or an agent's parts are used otherwise than usual, patched agents do, and fail, as legacy's do."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import patches
from tests.patches.marinenav.test_customised import network_of
from tests.patches.marinenav.test_device_replay import transitions
from tests.patches.marinenav.test_updates import filled, seed_generators

STATES = [item[0] for item in transitions(3, seed=2)]
Around = Callable[[], contextlib.AbstractContextManager[Any]]


def attempt(work: Callable[[], Any]) -> tuple[Any, ...]:
    """What a call gives or how it fails, and where it leaves the generators."""
    seed_generators(4)
    try:
        answer = work()
    except Exception as error:  # whatever legacy raises
        answer = f"{type(error).__name__}: {error}"
    return repr(answer), random.random(), np.random.random_sample(), torch.get_rng_state().tolist()


def decide(agent: Any, use_eval: bool) -> list[Any]:
    if hasattr(agent, "act_batch"):
        return agent.act_batch(STATES, eps=0.3, use_eval=use_eval)
    return [agent.kind.act(agent, state, eps=0.3, use_eval=use_eval) for state in STATES]


def train(agent: Any) -> list[Any]:
    losses = agent.train()
    several = losses if isinstance(losses, tuple) else (losses,)
    return [np.asarray(loss).tolist() for loss in several]


def use(agent: Any, around: Around) -> list[Any]:
    """Act, learn and follow, first in those circumstances and then in the usual ones."""
    found: list[Any] = []
    for each in (around, contextlib.nullcontext):
        for work in (lambda: decide(agent, True), lambda: decide(agent, False)):
            with each():
                found.append(attempt(work))
            found.append([module.training for module in network_of(agent).modules()])
        for _ in range(2):
            with each():
                found.append(attempt(lambda: train(agent)))
        agent.soft_update()
        found.append(weights(agent))
    return found


def weights(agent: Any) -> list[bytes]:
    return [
        parameter.detach().numpy().tobytes()
        for policy in (agent.policy_local, agent.policy_target)
        for network in agent.kind.networks_of(policy)
        for parameter in network.parameters()
    ]


def both(
    agent_type: str,
    *,
    steps: str = "all",
    mode: str = "exact",
    around: Around = contextlib.nullcontext,
    change: Callable[[Any], object] = lambda _: None,
) -> list[Any]:
    found = []
    for chosen in ("none", steps):
        with patches.applied(chosen, mode=mode):
            agent = filled(agent_type)
            change(agent)
            found.append(use(agent, around))
    return found


@contextlib.contextmanager
def default_dtype(dtype: torch.dtype = torch.float64) -> Iterator[None]:
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


AROUND: dict[str, Around] = {
    "default dtype": default_dtype,
    "default device": lambda: torch.device("meta"),
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "inference mode": torch.inference_mode,
}


@pytest.mark.parametrize("steps", ["all", "3"])
@pytest.mark.parametrize("agent_type", ["IQN", "Rainbow"])
@pytest.mark.parametrize("name", AROUND)
def test_patched_agents_follow_legacy_into_what_torch_was_told(
    name: str, agent_type: str, steps: str
) -> None:
    legacy, patched = both(agent_type, steps=steps, around=AROUND[name])
    assert legacy == patched


def in_double(agent: Any) -> None:
    network_of(agent).double()


def one_layer_in_half(agent: Any) -> None:
    list(network_of(agent).children())[-1].half()


@pytest.mark.parametrize("mode", ["exact", "fast"])
@pytest.mark.parametrize("change", [in_double, one_layer_in_half])
@pytest.mark.parametrize("agent_type", ["SAC", "IQN", "Rainbow"])
def test_weights_of_another_precision_fail_where_legacy_fails(
    agent_type: str, change: Callable[[Any], None], mode: str
) -> None:
    legacy, patched = both(agent_type, mode=mode, change=change)
    assert "RuntimeError" in legacy[0][0]
    assert legacy == patched


def a_layer_without_noise(agent: Any) -> None:
    list(network_of(agent).children())[-1].eval()
    train(agent)


def a_silent_target_layer(agent: Any) -> None:
    agent.policy_target.eval()
    list(agent.policy_target.children())[-1].train()
    train(agent)


@pytest.mark.parametrize("change", [a_layer_without_noise, a_silent_target_layer])
@pytest.mark.parametrize("steps", ["1", "5"])
def test_noisy_layers_have_modes_of_their_own(change: Callable[[Any], None], steps: str) -> None:
    legacy, patched = both("Rainbow", steps=steps, change=change)
    assert legacy == patched


def fewer_fractions(agent: Any) -> None:
    agent.policy_local.K = 16


def another_batch_size(agent: Any) -> None:
    agent.BATCH_SIZE = 16


def another_device(agent: Any) -> None:
    agent.device = "meta"


@pytest.mark.parametrize("change", [fewer_fractions, another_batch_size, another_device])
def test_an_agent_that_was_told_otherwise_afterwards_is_legacys(
    change: Callable[[Any], None],
) -> None:
    legacy, patched = both("IQN", change=change)
    assert legacy == patched


def swapping_optimizers(agent: Any) -> None:
    agent.actor_optimizer, agent.critic_optimizer = agent.critic_optimizer, agent.actor_optimizer


def optimizing_the_target(agent: Any) -> None:
    agent.actor_optimizer = torch.optim.Adam(agent.policy_target.actor.parameters())


def accumulating_gradients(agent: Any) -> None:
    agent.actor_optimizer.zero_grad = lambda: None


class NeverClearing(torch.optim.Adam):
    """Adds up the gradients of all updates."""

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Leave them."""


def accumulating_by_class(agent: Any) -> None:
    agent.critic_optimizer = NeverClearing(agent.policy_local.critic.parameters())


@pytest.mark.parametrize(
    "change",
    [
        swapping_optimizers,
        optimizing_the_target,
        accumulating_gradients,
        accumulating_by_class,
    ],
)
def test_gradients_that_an_optimizer_leaves_pile_up_as_in_legacy(
    change: Callable[[Any], None],
) -> None:
    legacy, patched = both("DDPG", change=change)
    assert legacy == patched


@pytest.mark.parametrize(
    ("owner", "name"), [(torch.optim.Adam, "step"), (nn.Linear, "forward")], ids=["step", "forward"]
)
def test_methods_of_torch_that_were_replaced_are_called(
    owner: type, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for steps in ("none", "all"):
        heard: list[str] = []
        with patches.applied(steps, mode="exact"), monkeypatch.context() as patch:
            agent = filled("DDPG")
            original = getattr(owner, name)

            def heard_call(*args: Any, original: Any = original, heard: Any = heard) -> Any:
                heard.append(name)
                return original(*args)

            patch.setattr(owner, name, heard_call)
            found.append((use(agent, contextlib.nullcontext), len(heard)))
    assert found[0] == found[1]
    assert found[0][1] > 0
