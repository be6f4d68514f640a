"""Compiled steps of Adam leave the bits that torch's own leave, and step aside where those are torch's to choose."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import patches
from legacy_marinenav.policy.agent import Agent
from patches.marinenav.step5_merge import descent
from patches.marinenav.step5_merge.compiled_environment import loading

pytest.importorskip("numba")
from patches.marinenav.step5_merge.compiled_descent import kernels as compiled
from patches.marinenav.step5_merge.compiled_descent import probing


@pytest.fixture
def in_use() -> None:
    """Elsewhere than here torch may round otherwise."""
    if loading.verdict(loading.DESCENT).kernels is None:
        pytest.skip(loading.verdict(loading.DESCENT).reason)


def test_on_any_machine_it_computes_a_step_of_adam() -> None:
    """Whether every bit agrees is tried before it is used; that it is about the same can be said before."""
    found, expected = probing.stepped(compiled.Kernels((True, True, compiled.HAS_ROOTS)))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)


def test_on_any_machine_it_moves_targets() -> None:
    targets, locals_ = [torch.full((9,), 2.0)], [torch.full((9,), 4.0)]
    version = targets[0]._version
    assert compiled.Kernels((True, True, compiled.HAS_ROOTS)).approach(targets, locals_, 0.25)
    torch.testing.assert_close(targets[0], torch.full((9,), 2.5))
    assert targets[0]._version > version, "a backward pass that kept them would not notice"


def trained(*, is_compiled: bool, strange: float | None = None) -> list[bytes]:
    """Parameters, gradients, averages and versions after a few steps of a small network."""
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(7, 33), torch.nn.ReLU(), torch.nn.Linear(33, 5))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    with pytest.MonkeyPatch.context() as patch:
        if not is_compiled:
            patch.setattr(loading, "kernels", lambda *_: None)
        for number in range(4):
            inputs = torch.randn(11, 7)
            if strange is not None and number == 3:
                inputs[0, 0] = strange
            descent.descend(network(inputs).square().mean() * 40, network, optimizer)
    parts: list[Any] = []
    for parameter in network.parameters():
        state = optimizer.state[parameter]
        parts += [parameter, parameter.grad, state["exp_avg"], state["exp_avg_sq"], state["step"]]
    return [part.detach().view(torch.int32).numpy().tobytes() for part in parts]


@pytest.mark.usefixtures("in_use")
@pytest.mark.parametrize("strange", [None, math.nan, math.inf])
def test_the_same_bits(strange: float | None) -> None:
    assert trained(is_compiled=True, strange=strange) == trained(is_compiled=False, strange=strange)


@pytest.mark.usefixtures("in_use")
def test_compiled_code_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(compiled, "step", lambda *_: not calls.append(1))
    trained(is_compiled=True)
    assert len(calls) == 3, "the first step makes the averages, which is left to Adam"


@pytest.mark.usefixtures("in_use")
def test_what_is_kept_for_a_backward_pass_is_known_to_have_changed() -> None:
    """Memory that is written behind torch's back would give wrong gradients without a word."""
    network = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(network.parameters())
    descent.descend(network(torch.ones(1, 3)).sum(), network, optimizer)
    kept = network(torch.ones(1, 3, requires_grad=True)).sum()
    descent.descend(network(torch.ones(1, 3)).sum(), network, optimizer)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        kept.backward()


@pytest.mark.usefixtures("in_use")
@pytest.mark.parametrize("strange", [None, math.nan, -math.nan, math.inf])
def test_targets_move_alike(strange: float | None) -> None:
    found = []
    for is_compiled in (True, False):
        torch.manual_seed(0)
        with patches.applied("all"), pytest.MonkeyPatch.context() as patch:
            agent = Agent(agent_type="DQN", BUFFER_SIZE=100)
            if not is_compiled:
                patch.setattr(loading, "kernels", lambda *_: None)
            if strange is not None:
                with torch.no_grad():
                    agent.policy_local.output_layer.bias[:2] = strange
                    agent.policy_target.output_layer.bias[1:3] = -strange
            agent.soft_update()
        parameters = agent.policy_target.parameters()
        found.append([each.detach().view(torch.int32).numpy().tobytes() for each in parameters])
    assert found[0] == found[1]


def clips_otherwise(inner: Any, forms: Any, lanes: Any, table: Any, largest: Any, *rest: Any) -> Any:  # fmt: skip
    return inner(forms, lanes, table, largest * np.float32(0.999), *rest)


def roots_otherwise(inner: Any, forms: Any, *rest: Any) -> Any:
    averages, squares, roots = forms
    return inner((averages, squares, False), *rest) if roots else False


def adds_otherwise(inner: Any, *arguments: Any) -> Any:
    *others, epsilon, numbers = arguments
    return inner(*others, epsilon * np.float32(1.01), numbers)


def approaches_otherwise(inner: Any, *arguments: Any) -> Any:
    *others, weight = arguments
    return inner(*others, weight * np.float32(1 + 2e-7))


@pytest.mark.parametrize(
    ("name", "wrong", "problem"),
    [
        ("step", clips_otherwise, "other steps"),
        ("step", roots_otherwise, "other steps"),
        ("step", adds_otherwise, "other steps"),
        ("approach", approaches_otherwise, "moves targets"),
    ],
)
def test_a_kernel_that_disagrees_is_not_used(
    name: str, wrong: Any, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, name, partial(wrong, getattr(compiled, name)))
    kernels, reason = probing.try_kernels()
    assert kernels is None
    assert problem in reason
