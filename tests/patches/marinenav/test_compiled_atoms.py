"""Rainbow's noise and projections by compiled code have legacy's bits, and others are asked where they do it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import patches
from legacy_marinenav.policy.agent import Agent
from legacy_marinenav.policy.Rainbow_model import NoisyLinear
from legacy_marinenav.policy.updates import rainbow
from patches.marinenav import projection
from tests.patches.marinenav.test_updates import filled, learn, parameters

pytest.importorskip("numba")
from patches.marinenav.step5_merge.compiled_networks import atoms
from patches.marinenav.step5_merge.compiled_networks.compiled import atoms as compiled

_legacy_project = rainbow.project_distribution


@pytest.fixture
def agent() -> Agent:
    with patches.applied("all"):
        return Agent(agent_type="Rainbow", BUFFER_SIZE=40, BATCH_SIZE=64)


def renewed(agent: Agent, renew: Any) -> tuple[list[Any], Any]:
    torch.manual_seed(3)
    for _ in range(2):
        renew(agent.policy_target)
    return [each.tolist() for each in agent.policy_target.buffers()], torch.rand(3).tolist()


def test_noise_is_drawn_and_scaled_as_legacy_does(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = renewed(agent, type(agent.policy_target).reset_noise)
    before = agent.policy_target.output_layer_a.weight_epsilon._version
    monkeypatch.delattr(NoisyLinear, "reset_noise")  # nobody asks for it
    monkeypatch.setattr(atoms, "_is_noise_right", lambda: True)
    assert renewed(agent, atoms.renew_noise) == wanted
    assert agent.policy_target.output_layer_a.weight_epsilon._version > before


def test_noise_is_tried_without_a_draw() -> None:
    torch.manual_seed(4)
    before = torch.get_rng_state()
    assert atoms._is_noise_right.__wrapped__()
    assert torch.equal(torch.get_rng_state(), before)


def with_own_layer(agent: Agent) -> None:
    agent.policy_target.hidden_layer_a.reset_noise = lambda: None


def with_own_scale(agent: Agent) -> None:
    agent.policy_target.output_layer_v._scaled_noise = torch.ones


def with_double_noise(agent: Agent) -> None:
    agent.policy_target.output_layer_v.double()


def with_turned_noise(agent: Agent) -> None:
    layer = agent.policy_target.hidden_layer_v
    layer.weight_epsilon = layer.weight_epsilon.T.contiguous().T


@pytest.mark.parametrize(
    "customise", [with_own_layer, with_own_scale, with_double_noise, with_turned_noise]
)
def test_layers_with_noise_of_their_own_are_asked(agent: Agent, customise: Any) -> None:
    customise(agent)
    wanted = renewed(agent, type(agent.policy_target).reset_noise)
    assert renewed(agent, atoms.renew_noise) == wanted


def batch(size: int = 64) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Positions between atoms, on atoms, on the first, on the last and beyond both."""
    random = torch.Generator().manual_seed(1)
    probs = torch.softmax(torch.randn(size, 51, generator=random), 1)
    probs[3] = 0.0
    returns = torch.randn(size, generator=random)
    returns[:6] = torch.tensor([0.0, -1.0, 1.0, 5.0, -5.0, 0.04])
    nonterminals = (torch.rand(size, 1, generator=random) < 0.7).float()
    nonterminals[:6] = torch.tensor([[0.0], [0.0], [0.0], [1.0], [1.0], [0.0]])
    return probs, returns, nonterminals


def test_projections_have_legacys_bits(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    given = batch()
    wanted = _legacy_project(agent, *given)
    monkeypatch.setattr(projection, "project", None)  # nobody asks for it
    found = atoms.project(agent, agent.patch_notes, *given)
    assert np.array_equal(found.view(torch.int32), wanted.view(torch.int32))


@pytest.mark.parametrize("change", ["number", "support", "limits", "type"])
def test_what_cannot_be_projected_is_left_to_torch(agent: Agent, change: str) -> None:
    probs, returns, nonterminals = batch()
    if change == "number":
        returns[9] = torch.nan
    elif change == "support":
        agent.support = agent.support.expand(64, 51)[0].double()
    elif change == "limits":
        agent.Vmax = 3
    else:
        probs = probs.double().float().t().contiguous().t()
    found = []
    for project in (projection.project, atoms.project):
        try:
            projected = project(agent, agent.patch_notes, probs, returns, nonterminals)
            found.append(projected.view(torch.int32).tolist())
        except (IndexError, RuntimeError) as error:
            found.append(str(error))
    assert found[0] == found[1]


def test_compiled_projections_say_when_there_is_no_atom() -> None:
    probs, returns, nonterminals = batch()
    returns[2] = torch.inf
    one = np.float32(1.0)
    given = (
        probs.numpy(),
        returns.numpy(),
        nonterminals.numpy(),
        np.linspace(-1, 1, 51, dtype=np.float32),
    )
    rest = (one, (-one, one), np.float32(0.04), np.empty((64, 51), np.float32))
    assert compiled.project(*given, *rest)
    returns[2] = torch.nan
    assert not compiled.project(*given, *rest)
    returns[2] = 0.0
    assert not compiled.project(*given, one, (-one, one), np.float32(0.01), rest[-1])


@pytest.mark.parametrize("size", [1e30, 3e38])
def test_an_action_that_is_beyond_all_numbers_spoils_what_it_spoils_in_legacy(size: float) -> None:
    """Only those that were taken have a loss, but all have gradients."""
    found = []
    for chosen in ("none", "all"):
        with patches.applied(chosen, mode="exact"):
            agent = filled("Rainbow")
            with torch.no_grad():
                agent.policy_local.output_layer_v.bias_mu.fill_(size)
                agent.policy_local.output_layer_a.bias_mu[51 * 7 : 51 * 8] = size
            found.append((learn(agent, 2), parameters(agent)))
    assert str(found[0]) == str(found[1])
