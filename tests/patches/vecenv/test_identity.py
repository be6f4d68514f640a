"""Every choice of steps does what the library does; only what truncations teach may round differently."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
import torch

pytest.importorskip("stable_baselines3")

import patches
import syncprobe
from patches.vecenv.advantages import advantages_of
from patches.vecenv.decisions import unchecked
from patches.vecenv.plan import PLAN
from patches.vecenv.tools import Tools, settings_now
from syncprobe.equivalence.verdict import Case, CaseVerdict
from syncprobe.equivalence.verifying import Verifier, run_of
from syncprobe.targets.legacy_code import validated_distributions
from syncprobe.workloads.vecenv import training
from syncprobe.workloads.vecenv.config import configured

SUBSETS = [steps for count in range(1, 6) for steps in itertools.combinations(range(1, 6), count)]
LEVELS = [tuple(range(1, last + 1)) for last in range(2, 6)]
CHOICES = [*((number,) for number in range(1, 6)), *LEVELS]
STEPS = 96
"""Three updates of PPO; the replay of DQN is about to wrap, episodes are cut off."""


@cache
def verifier(algorithm: str) -> Verifier:
    return Verifier(run_of("vecenv", algorithm, seed=0, steps=STEPS))


def check(algorithm: str, steps: tuple[int, ...], mode: str) -> CaseVerdict:
    case = Case(agent=algorithm, pipeline="vecenv", patches=steps, mode=mode, seed=0, steps=STEPS)
    return verifier(algorithm).check(case)


@pytest.mark.parametrize("steps", CHOICES, ids=str)
@pytest.mark.parametrize("algorithm", ["PPO", "DQN"])
def test_exact_mode_keeps_every_bit(algorithm: str, steps: tuple[int, ...]) -> None:
    assert check(algorithm, steps, "exact").differences == ()


@pytest.mark.slow
@pytest.mark.parametrize("steps", SUBSETS, ids=str)
@pytest.mark.parametrize("algorithm", ["PPO", "DQN"])
def test_every_subset_keeps_every_bit(algorithm: str, steps: tuple[int, ...]) -> None:
    assert check(algorithm, steps, "exact").differences == ()


def test_fast_mode_asks_about_truncations_together_and_learns_nearly_the_same() -> None:
    verdict = check("PPO", (1, 2, 3, 4, 5), "fast")
    assert verdict.differences == ()
    assert {each.what for each in verdict.deviations} >= {"parameter", "loss"}


def test_fast_mode_of_dqn_keeps_every_bit() -> None:
    verdict = check("DQN", (1, 2, 3, 4, 5), "fast")
    assert (verdict.differences, verdict.deviations) == ((), ())


def test_the_runs_that_are_compared_learn_and_are_cut_off() -> None:
    trace = verifier("PPO").legacy
    assert len(trace.updates) == 3
    assert any(any(step.dones) for step in trace.steps)
    assert sum(float(update.losses[0]) != 0 for update in trace.updates) == 3


def test_one_sample_is_the_largest_quotient_of_chance_and_noise() -> None:
    chances = torch.softmax(torch.randn(500, 9, generator=torch.Generator().manual_seed(1)), 1)
    torch.manual_seed(7)
    expected, following = torch.multinomial(chances, 1, True).flatten(), torch.rand(1)
    torch.manual_seed(7)
    found = torch.argmax(chances / torch.empty_like(chances).exponential_(1), dim=-1)
    assert torch.equal(found, expected)
    assert torch.equal(torch.rand(1), following)


def test_distributions_are_unchecked_in_their_scope_only() -> None:
    wrong = torch.tensor([float("nan"), 0.0])
    with validated_distributions():  # torchrl switches that off for a whole process
        with unchecked():
            torch.distributions.Categorical(logits=wrong)
        with pytest.raises(ValueError, match="Expected parameter logits"):
            torch.distributions.Categorical(logits=wrong)


def test_advantages_round_as_the_library_does() -> None:
    draw = np.random.default_rng(3)
    rewards, values = (draw.normal(size=(20, 5)).astype(np.float32) for _ in range(2))
    starts = (draw.random((20, 5)) < 0.2).astype(np.float32)
    dones, last = draw.random(5) < 0.2, draw.normal(size=5).astype(np.float32)
    spaces = training.build(configured("ppo", "navlite", envs=5), "cpu").model
    buffer = training.Rollouts(
        20,
        spaces.observation_space,
        spaces.action_space,
        "cpu",
        gae_lambda=0.95,
        gamma=0.99,
        n_envs=5,
    )
    buffer.rewards, buffer.values, buffer.episode_starts = rewards, values, starts
    buffer.compute_returns_and_advantage(torch.from_numpy(last), dones)
    ends = np.concatenate([starts[1:], dones[None].astype(np.float32)])
    found = advantages_of(
        torch.from_numpy(rewards),
        torch.from_numpy(values),
        torch.from_numpy(last),
        1.0 - torch.from_numpy(ends),
        0.99,
        0.95,
    )
    assert np.array_equal(found.numpy(), buffer.advantages)


def test_buffers_are_made_once() -> None:
    with patches.applied("3,4", plan=PLAN):
        model = training.build(configured("ppo", "navlite", envs=2), "cpu").model
        before = model.rollout_buffer.observations
        model.rollout_buffer.reset()
        assert model.rollout_buffer.observations is before
    with patches.applied("4", plan=PLAN):
        model = training.build(configured("ppo", "navlite", envs=2), "cpu").model
        before = model.rollout_buffer.observations
        model.rollout_buffer.reset()
        assert model.rollout_buffer.observations is not before


def test_a_divergence_that_is_too_large_ends_the_update() -> None:
    """With a limit set, both end after the same minibatch."""
    updates = []
    for steps in ("none", "all"):
        with patches.applied(steps, plan=PLAN):
            made = training.build(
                configured("ppo", "navlite", envs=4, knobs="n_steps=32,batch_size=32"), "cpu"
            )
            made.model.target_kl = 1e-9
            made.run(64)
            updates.append((made.model._n_updates, made.model.logged()["train/approx_kl"]))
    assert updates[0] == updates[1]
    assert updates[0][0] < 8


@pytest.mark.filterwarnings("ignore:You have specified a mini-batch size:UserWarning")
def test_what_is_left_of_a_rollout_is_learnt_from() -> None:
    """Minibatches that do not divide it: the last one is smaller."""
    found = []
    for steps in ("none", "4"):
        with patches.applied(steps, mode="exact", plan=PLAN):
            knobs = "n_steps=24,batch_size=20"
            made = training.build(configured("ppo", "navlite", envs=2, knobs=knobs), "cpu")
            made.run(48)
            found.append([each.tolist() for each in made.model.policy.parameters()])
    assert found[0] == found[1]


def test_what_was_read_stays_what_it_was() -> None:
    with syncprobe.record(device="sim"), patches.applied("3", plan=PLAN):
        tools = Tools(settings_now(), torch.device("cuda"))
        kept = tools.read(torch.ones(3, device="cuda"))
        tools.read(torch.zeros(3, device="cuda"))
    assert kept.tolist() == [1.0, 1.0, 1.0]
