"""Networks by compiled code answer and learn to the bits of torch's own, and step aside where those are torch's to choose."""

from __future__ import annotations

import math
import random
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import patches
from legacy_marinenav.policy.agent import Agent
from patches.marinenav import forwards as plain_forwards
from patches.marinenav.batches import UpdateInputs
from patches.marinenav.observations import Observation, observation_of
from patches.marinenav.step5_merge import by_autograd, learning
from patches.marinenav.step5_merge.compiled_environment import loading
from syncprobe.targets.legacy_code import AGENTS

pytest.importorskip("numba")
pytest.importorskip("tensordict")
from tensordict import TensorDict

from legacy_marinenav.torchrl_gpu.policy_wrapper import PolicyWrapper
from patches.marinenav.step5_merge.compiled_networks import kernels as compiled
from patches.marinenav.step5_merge.compiled_networks import kinds, probing, sampling
from patches.marinenav.step5_merge.compiled_networks.compiled import product, row_sums, runner
from patches.marinenav.step5_merge.compiled_networks.kernels import (
    LAST_INPUT,
    NOTHING,
    PARAMETERS,
    Kernels,
    Sizes,
)
from patches.marinenav.step5_merge.compiled_networks.programs import Program
from patches.marinenav.step5_merge.compiled_networks.reference import Reference

_ENCODERS = ((56, 7), (40, 5))
_HIDDEN = ((128, 256), (128, 128))
SHAPES = {
    kinds.ACTOR: (*_ENCODERS, *_HIDDEN, (2, 128)),
    kinds.SAMPLING_ACTOR: (*_ENCODERS, *_HIDDEN, (2, 128), (2, 128)),
    kinds.CRITIC: (*_ENCODERS, (128, 2), *_HIDDEN, (1, 128)),
    kinds.BOTH_CRITICS: (*_ENCODERS, (128, 2), *_HIDDEN, (1, 128)) * 2,
    kinds.QUANTILE_CRITIC: (*_ENCODERS, (256, 64), (128, 2), *_HIDDEN, (1, 128)),
    kinds.QUANTILE_VALUES: (*_ENCODERS, (256, 64), *_HIDDEN, (25, 128)),
    kinds.STREAMS: (
        *_ENCODERS, (128, 256), (128, 256), (128, 128), (128, 128), (51, 128), (1275, 128),
    ),
}  # fmt: skip
NAMES = {id(value): name for name, value in vars(kinds).items() if isinstance(value, kinds.Kind)}
CONTINUOUS = {"AC-IQN", "DDPG", "SAC"}


@pytest.fixture
def forwards() -> Any:
    """Elsewhere than here torch may round otherwise."""
    verdict = loading.verdict(loading.NETWORKS)
    if verdict.kernels is None:
        pytest.skip(verdict.reason)
    return verdict.kernels


@pytest.mark.parametrize("sizes", [Sizes(1, 8), Sizes(17, 8), Sizes(64, 8)])
@pytest.mark.parametrize("wanted", [NOTHING, PARAMETERS])
@pytest.mark.parametrize("kind", SHAPES, ids=lambda kind: NAMES[id(kind)])
def test_every_network_keeps_its_bits(forwards: Any, kind: Any, wanted: str, sizes: Sizes) -> None:
    assert isinstance(forwards.kernels.tried(kind, SHAPES[kind], sizes, wanted), Program)


@pytest.mark.parametrize("groups", [2, 5, 64])
@pytest.mark.parametrize("kind", SHAPES, ids=lambda kind: NAMES[id(kind)])
def test_robots_of_their_own_are_answered_as_if_alone(
    forwards: Any, kind: Any, groups: int
) -> None:
    sizes = Sizes(1, 32, groups)
    assert isinstance(forwards.kernels.tried(kind, SHAPES[kind], sizes, NOTHING), Program)


def test_any_number_of_robots_is_answered_by_one_program(forwards: Any) -> None:
    """It is tried once, and gives each robot what torch gives it alone."""
    kind, kernels = kinds.QUANTILE_VALUES, Kernels(forwards.kernels.lanes)
    parameters = [
        part
        for width, terms in SHAPES[kind]
        for part in (torch.randn(width, terms) / 10, torch.randn(width))
    ]
    for robots in (1, 70, 3, 5):
        sizes = Sizes(1, 32, robots)
        absent = torch.rand(robots, 5, 1) < 0.3
        inputs = (
            torch.randn(robots, 7),
            torch.randn(robots * 5, 5),
            absent,
            torch.randn(robots * 32, 64),
        )
        (found,) = kernels.answer(kind, parameters, inputs, sizes)
        reference = Reference(compiled._drawn(kind, SHAPES[kind], sizes), frozenset())
        (wanted,), _ = reference.forward((*parameters, *inputs), robots)
        assert torch.equal(found, wanted)
    assert [type(each) for each in kernels._programs.values()] == [Program]


@pytest.mark.parametrize(
    "kind",
    [kinds.CRITIC, kinds.BOTH_CRITICS, kinds.QUANTILE_CRITIC],
    ids=["values", "both", "quantiles"],
)
def test_slopes_of_actions_keep_their_bits(forwards: Any, kind: Any) -> None:
    found = forwards.kernels.tried(kind, SHAPES[kind], Sizes(64, 8), LAST_INPUT)
    assert isinstance(found, Program)


@settings(deadline=None, max_examples=60)
@given(
    rows=st.integers(1, 700),
    width=st.one_of(st.integers(1, 70), st.sampled_from([128, 256, 1275])),
    seed=st.integers(0, 2**16),
)
def test_rows_are_summed_in_the_order_of_torch(rows: int, width: int, seed: int) -> None:
    verdict = loading.verdict(loading.NETWORKS)
    if verdict.kernels is None:
        pytest.skip(verdict.reason)
    if rows * width >= 32_768:  # left to torch, which may have more threads for it
        rows = 32_767 // width
    numbers = torch.randn(rows, width, generator=torch.Generator().manual_seed(seed))
    found = torch.empty(width)
    row_sums.sum_rows(found.numpy(), numbers.numpy(), verdict.kernels.kernels.lanes)
    assert torch.equal(found, numbers.sum(0))


@settings(deadline=None, max_examples=60)
@given(rows=st.integers(1, 70), size=st.sampled_from([1e-3, 1.0, 30.0]), seed=st.integers(0, 2**16))
def test_samples_and_their_slopes_are_those_of_torch(rows: int, size: float, seed: int) -> None:
    """Log-deviations beyond their limits included, whose slopes are zero."""
    verdict = loading.verdict(loading.NETWORKS)
    if verdict.kernels is None:
        pytest.skip(verdict.reason)
    with patches.applied("all"):
        actor = Agent(agent_type="SAC", BUFFER_SIZE=100).policy_local.actor
    generator = torch.Generator().manual_seed(seed)
    mean, log_std, normals, of_actions = torch.randn(4, rows, 2, generator=generator) * size
    of_log_probs = torch.randn(rows, 1, generator=generator)
    leaves = mean.clone().requires_grad_(), log_std.clone().requires_grad_()
    wanted = plain_forwards.sample_with_log_probs(actor, *leaves, normals)
    slopes = torch.autograd.grad(wanted, leaves, (of_actions, of_log_probs))
    found = sampling.Sampled(actor, mean, log_std, normals)
    ours = found.actions, found.log_probs, *found.slopes(of_actions, of_log_probs)
    for one, other in zip(ours, (*wanted, *slopes), strict=True):
        assert torch.equal(one.view(torch.int32), other.detach().view(torch.int32))


def test_on_any_machine_tapes_compute_networks() -> None:
    """Whether every bit agrees is tried before they are used; that it is about the same can be said before."""
    if product.find_product():
        pytest.skip(product.find_product())
    kind, sizes = kinds.QUANTILE_CRITIC, Sizes(6, 3)
    kernels = Kernels(8)
    parameters = [
        part
        for width, terms in SHAPES[kind]
        for part in (torch.randn(width, terms) / 10, torch.randn(width))
    ]
    absent = torch.arange(30).view(6, 5) % 3 == 0
    inputs = (
        torch.randn(6, 7), torch.randn(30, 5), absent, torch.randn(18, 64), torch.randn(6, 2),
    )  # fmt: skip
    program, reference = _both(kernels, kind, sizes)
    found = []
    for asked in (program, reference):
        outputs, space = asked.forward((*parameters, *inputs))
        slopes = [torch.ones_like(each) for each in outputs]
        found.append([*outputs, *asked.backward((*parameters, *inputs), slopes, space)])
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-4)


def test_on_any_machine_losses_of_quantiles_are_about_right() -> None:
    """Errors beyond one included, which count less."""
    if product.find_product():
        pytest.skip(product.find_product())
    targets, quantiles = 3 * torch.randn(16, 1, 8), torch.randn(16, 8, requires_grad=True)
    taus = torch.rand(16, 8, 1)
    wanted = by_autograd.quantile_huber_loss(targets, quantiles.unsqueeze(-1), taus)
    wanted.backward()
    loss, slopes = Kernels(8).quantile_slopes(targets, quantiles.detach(), taus)
    torch.testing.assert_close(loss, wanted.detach())
    torch.testing.assert_close(slopes, quantiles.grad)


def _both(kernels: Kernels, kind: Any, sizes: Sizes) -> list[Any]:
    """The program and the reference that `tried` compares."""
    found: list[Any] = []

    def kept(program: Any, reference: Any, *_: Any, **__: Any) -> bool:
        found.extend((program, reference))
        return True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "agree", kept)
        kernels.tried(kind, SHAPES[kind], sizes, PARAMETERS)
    return found


def _agent(agent_type: str) -> Any:
    agent = Agent(agent_type=agent_type, BUFFER_SIZE=1000)
    numbers = np.random.RandomState(0)
    for _ in range(200):
        before, after = (
            (list(numbers.randn(7)), [list(numbers.randn(5)) for _ in range(numbers.randint(0, 6))])
            for _ in range(2)
        )
        action = (
            list(numbers.uniform(-1, 1, 2))
            if agent_type in CONTINUOUS
            else np.int64(numbers.randint(25))
        )
        done = bool(numbers.rand() < 0.1)
        agent.kind.store(agent.memory, before, action, np.float64(numbers.randn()), after, done)
    return agent


def _learned(agent_type: str, *, steps: str | None, strange: float | None = None) -> list[bytes]:
    """Losses and all parameters after a few updates, with a strange weight before the last one."""
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    found: list[Any] = []
    with nullcontext() if steps is None else patches.applied(steps):
        agent = _agent(agent_type)
        networks = list(agent.kind.networks_of(agent.policy_local))
        for number in range(4):
            if strange is not None and number == 3:
                with torch.no_grad():
                    next(networks[-1].parameters())[0, 0] = strange
            losses = agent.train()
            found += [np.asarray(loss) for loss in np.atleast_1d(np.asarray(losses, dtype=object))]
    found += [part.detach().numpy() for network in networks for part in network.parameters()]
    return [np.ascontiguousarray(each, dtype=np.float32).tobytes() for each in found]


@pytest.mark.usefixtures("forwards")
@pytest.mark.parametrize("strange", [None, math.nan, math.inf])
@pytest.mark.parametrize("agent_type", AGENTS)
def test_agents_learn_what_legacy_learns(agent_type: str, strange: float | None) -> None:
    legacy = _learned(agent_type, steps=None, strange=strange)
    assert _learned(agent_type, steps="all", strange=strange) == legacy


@pytest.mark.usefixtures("forwards")
@pytest.mark.parametrize("agent_type", AGENTS)
def test_compiled_code_does_it(agent_type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        pytest.fail("autograd was asked")

    for name in vars(by_autograd):
        if "_of_" in name:
            monkeypatch.setattr(by_autograd, name, refuse)
    with patches.applied("all"):
        _agent(agent_type).train()


@pytest.mark.usefixtures("forwards")
@pytest.mark.parametrize("mode", ["fast", "exact"])
@pytest.mark.parametrize("agent_type", AGENTS)
def test_robots_do_what_they_do_in_legacy(agent_type: str, mode: str) -> None:
    numbers = np.random.RandomState(1)
    states = [
        (list(numbers.randn(7)), [list(numbers.randn(5)) for _ in range(robot % 6)])
        for robot in range(7)
    ]
    found = []
    for is_patched in (False, True):
        random.seed(0)
        np.random.seed(0)
        with patches.applied("all", mode=mode) if is_patched else nullcontext():
            agent = Agent(agent_type=agent_type, BUFFER_SIZE=100)
            if is_patched:
                actions = agent.act_batch(states, eps=0.2, use_eval=False)
            else:
                actions = [agent.kind.act(agent, s, eps=0.2, use_eval=False) for s in states]
                actions = [each[0] if isinstance(each, tuple) else each for each in actions]
        found.append(actions)
    assert found[0] == found[1]
    assert [type(each) for each in found[0]] == [type(each) for each in found[1]]


@pytest.mark.usefixtures("forwards")
def test_a_shape_that_disagrees_is_left_to_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one for which a library takes another way."""
    expected = _learned("DQN", steps="all")
    monkeypatch.setattr(compiled, "agree", lambda *_, **__: False)
    forwards = loading.verdict(loading.NETWORKS).kernels
    monkeypatch.setattr(forwards.kernels, "_programs", {})
    assert _learned("DQN", steps="all") == expected
    assert {type(each) for each in forwards.kernels._programs.values()} == {Reference}


@pytest.mark.usefixtures("forwards")
@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ("networks", "round otherwise"),
        ("slopes", "round otherwise"),
        ("losses", "round otherwise"),
        ("samples", "samples otherwise"),
        ("product", "does not show"),
    ],
)
def test_what_disagrees_is_not_used(
    what: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if what == "networks":
        inner = runner.run

        def wrong(lanes: int, tape: Any, *others: Any) -> None:
            inner(lanes, tape[:-1], *others)

        monkeypatch.setattr(runner, "run", wrong)
    elif what in {"slopes", "losses"}:
        spoilt, compare = -2 if what == "slopes" else -1, compiled.quantile_slopes

        def spoil(*arguments: Any) -> None:
            compare(*arguments)
            arguments[spoilt].fill(0.25)

        monkeypatch.setattr(compiled, "quantile_slopes", spoil)
    elif what == "samples":
        monkeypatch.setattr(sampling, "sample_slopes", lambda *arguments: arguments[-1].fill(0.25))
    else:
        monkeypatch.setattr(product, "_HAS_PRODUCT", False)
    kernels, reason = probing.try_kernels()
    assert kernels is None
    assert problem in reason


@pytest.mark.usefixtures("forwards")
def test_gradients_that_somebody_kept_stay_as_they_were() -> None:
    """Memory of runs is used again; what is handed out is not part of it."""
    with patches.applied("all"):
        agent = _agent("DQN")
        agent.train()
        kept = [each.grad for each in agent.policy_local.parameters()]
        before = [each.clone() for each in kept]
        agent.train()
    assert all(torch.equal(one, other) for one, other in zip(kept, before, strict=True))


@pytest.mark.usefixtures("forwards")
def test_frozen_parameters_are_left_to_autograd() -> None:
    with patches.applied("all"):
        agent = _agent("DQN")
        frozen = agent.policy_local.self_encoder[0].weight.requires_grad_(requires_grad=False)
        before = frozen.clone()
        agent.train()
        agent.train()
    assert torch.equal(frozen, before)
    assert frozen.grad is None


@pytest.mark.usefixtures("forwards")
def test_layers_that_do_not_fit_are_torchs_to_refuse() -> None:
    states = [([0.0] * 7, [[0.0] * 5])] * 2
    with patches.applied("all"):
        agent = Agent(agent_type="DQN", BUFFER_SIZE=100)
        agent.policy_local.hidden_layer_2 = torch.nn.Linear(99, 128)
        with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
            agent.act_batch(states)


@pytest.mark.usefixtures("forwards")
@pytest.mark.parametrize("form", ["transposed", "double"])
def test_observations_of_any_kind_are_understood_or_refused(form: str) -> None:
    """Compiled code reads memory as it lies there."""
    rows = torch.randn(3, 37)
    own, objects, masks = rows[:, :7].clone(), rows[:, 7:32].reshape(3, 5, 5), torch.ones(3, 5)
    found = []
    for is_odd in (False, True):
        if is_odd and form == "transposed":
            own, objects = own.t().contiguous().t(), objects.transpose(1, 2).contiguous()
            objects = objects.transpose(1, 2)
        elif is_odd:
            own = own.double()
        seen = TensorDict(
            {"self_state": own, "objects_state": objects, "objects_mask": masks}, batch_size=()
        )
        with patches.applied("all"):
            agent = Agent(agent_type="DQN", BUFFER_SIZE=100)
            policy = PolicyWrapper(agent)
            with pytest.raises(RuntimeError) if is_odd and form == "double" else nullcontext():
                found.append(policy(seen)["action"].tolist())
    assert found[0] == found[-1]


def test_many_robots_keep_their_bits_in_exact_mode(forwards: Any) -> None:
    """Their actions would be the same; what they are chosen by would not."""
    network = Agent(agent_type="DQN", BUFFER_SIZE=100).policy_local
    own, objects = torch.randn(40, 1, 7), torch.randn(40, 5, 5)
    absent = torch.zeros(40, 5, 1, dtype=torch.bool)
    with torch.no_grad():
        found = forwards.exactly().action_values(network, Observation(own, objects, absent))
        alone = [
            plain_forwards.action_values(network, Observation(one.clone(), seen.clone(), flags))
            for one, seen, flags in zip(own, objects, absent.unsqueeze(1), strict=True)
        ]
    assert torch.equal(found, torch.cat(alone))


@pytest.mark.usefixtures("forwards")
@pytest.mark.parametrize("agent_type", ["DDPG", "DQN", "Rainbow"])
def test_rows_are_taken_apart_into_what_torch_makes_of_them(agent_type: str) -> None:
    """Twice, and in memory that the second batch is written to."""
    rows = torch.randn(2, 16, 78, generator=torch.Generator().manual_seed(0))
    with patches.applied("all"):
        notes = Agent(agent_type=agent_type, BUFFER_SIZE=40).patch_notes
        for batch in rows:
            plain = UpdateInputs(batch, sees_any=True, fractions=(), normals=())
            apart = learning.rows_apart(notes, plain)
            assert apart.pieces is not None
            for ask in (UpdateInputs.states, UpdateInputs.next_states):
                assert _are_alike(ask(apart), ask(plain))
            assert torch.equal(apart.actions(), plain.actions())
            assert apart._replace(sees_any=False).states().objects is None
            states = batch[:, :37].contiguous()
            found = learning.states_apart(notes, states)
            wanted = (observation_of(part, has_objects=True) for part in states.split(8))
            assert all(map(_are_alike, found, wanted))


def _are_alike(one: Observation, other: Observation) -> bool:
    return all(
        mine.shape == theirs.shape and mine.dtype == theirs.dtype and torch.equal(mine, theirs)
        for mine, theirs in zip(one, other, strict=True)
    )
