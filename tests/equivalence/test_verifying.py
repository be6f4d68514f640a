"""Harmless stand-ins verify as identical, faulty ones are caught, in both modes."""

from __future__ import annotations

import contextlib
import random

import numpy as np
import pytest
import torch

from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3
from legacy_marinenav.policy.agent import Agent
from legacy_marinenav.policy.replay_buffer import ReplayBuffer
from legacy_marinenav.policy.training_loop import TrainingLoop
from syncprobe.equivalence import VerificationPlan, Verifier, verify
from syncprobe.equivalence.corners import corners_of
from syncprobe.equivalence.verifying import ThoroughVerifier
from tests.equivalence.variants import case_of, small_run, wrapped


class Variants:
    """Hands out one context after the other, whatever patches are asked for."""

    def __init__(self) -> None:
        self.make = contextlib.nullcontext

    def __call__(self, _patches, _mode):
        return self.make()


@pytest.fixture(scope="module")
def variants():
    return Variants()


@pytest.fixture(scope="module")
def verifier(variants):
    return Verifier(small_run("DDPG"), apply=variants)


def through(original, *args, **kwargs):
    return original(*args, **kwargs)


@pytest.mark.parametrize(
    ("owner", "name"),
    [(Agent, "train"), (Agent, "act_ddpg"), (MarineNavEnv3, "step"), (TrainingLoop, "_collect")],
)
def test_a_wrapper_that_changes_nothing_is_identical(owner, name, verifier, variants):
    variants.make = lambda: wrapped(owner, name, through)
    for mode in ("exact", "fast"):
        verdict = verifier.check(case_of(verifier.run, mode))
        assert verdict.is_equivalent, verdict.sentences
        assert verdict.compared > 500
        assert not verdict.deviations, "equal to the last bit, so nothing deviates"


def extra_draw(original, agent, *args, **kwargs):
    random.random()
    return original(agent, *args, **kwargs)


def rounded_rewards(original, trainer, outcome, episode):
    outcome = type(outcome)(outcome.observation, np.float32(outcome.rewards), outcome.transition)
    return original(trainer, outcome, episode)


def lost_ending(original, memory, item):
    return original(memory, (*item[:4], False))


def swapped_next_states(original, memory, item):
    state, action, reward, _, done = item
    return original(memory, (state, action, reward, state, done))


def late_target(original, agent):
    if agent.__dict__.setdefault("calls", []):
        original(agent)
    agent.calls.append(1)


def last_bit_of_a_loss(original, agent):
    critic, actor = original(agent)
    return np.nextafter(critic, np.float32(10)), actor


def last_bit_of_a_parameter(original, agent):
    losses = original(agent)
    with torch.no_grad():
        weight = agent.policy_local.actor.output_layer.weight
        weight[0, 0] = torch.nextafter(weight[0, 0], torch.tensor(10.0))
    return losses


def last_bit_of_an_observation(original, environment, *args):
    observations, *rest = original(environment, *args)
    own, _ = observations[0]
    if own is not None:
        own[0] = np.nextafter(own[0], 10.0)
    return observations, *rest


def unsaved_critic(_original, agent, directory):
    agent.policy_local.actor.save(directory)


def another_text(original, trainer, *args):
    print("hello")
    return original(trainer, *args)


FAULTS = {
    "a draw too many": (Agent, "act_ddpg", extra_draw, "proposed action"),
    "rewards rounded before they are added up": (
        TrainingLoop,
        "_collect",
        rounded_rewards,
        "episode reward",
    ),
    "endings lost": (ReplayBuffer, "add", lost_ending, "loss"),
    "next states swapped": (ReplayBuffer, "add", swapped_next_states, "loss"),
    "target followed too late": (Agent, "soft_update", late_target, "loss"),
    "last bit of a loss": (Agent, "train", last_bit_of_a_loss, "loss"),
    "last bit of a parameter": (Agent, "train", last_bit_of_a_parameter, "proposed action"),
    "last bit of an observation": (
        MarineNavEnv3,
        "step",
        last_bit_of_an_observation,
        "observation",
    ),
    "half of the model saved": (Agent, "save_latest_model", unsaved_critic, "saved model"),
    "something else printed": (TrainingLoop, "_print_episode", another_text, "printed text"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_exact_mode_catches(name, verifier, variants):
    owner, method, fault, what = FAULTS[name]
    variants.make = lambda: wrapped(owner, method, fault)
    verdict = verifier.check(case_of(verifier.run, "exact"))
    assert not verdict.is_equivalent
    if what != "proposed action":  # whom chance hits first is no matter
        assert verdict.differences[0].what.startswith(what), verdict.sentences
    sentence = verdict.sentences[0]
    assert sentence.startswith("DDPG, original pipeline, patches 1-5, exact mode, seed 0: ")
    assert "legacy has" in sentence


def nudged(size):
    """An actor that is off by a little, as batched forwards are."""

    def act(original, agent, state, eps=0.0, use_eval=True):
        action = original(agent, state, eps=eps, use_eval=use_eval)
        return [float(np.float32(value + size)) for value in action]

    return lambda: wrapped(Agent, "act_ddpg", act)


def test_fast_mode_allows_what_rounding_does(verifier, variants):
    variants.make = nudged(3e-7)
    assert not verifier.check(case_of(verifier.run, "exact")).is_equivalent
    verdict = verifier.check(case_of(verifier.run, "fast"))
    assert verdict.is_equivalent, verdict.sentences
    used = {(item.check, item.what): item for item in verdict.deviations}
    assert 1e-7 < used["teacher-forced", "proposed action"].largest < 1e-6
    assert used["teacher-forced", "loss"].largest == 0.0, "forced runs learn the very same"
    assert used["free-running", "action"].largest < 1e-3


def test_fast_mode_does_not_allow_more(verifier, variants):
    variants.make = nudged(1e-4)
    verdict = verifier.check(case_of(verifier.run, "fast"))
    assert not verdict.is_equivalent
    assert verdict.differences[0].check == "teacher-forced"
    assert verdict.differences[0].what.startswith("proposed action")
    assert "may differ by" in verdict.sentences[0]


@pytest.mark.parametrize(
    "name", ["a draw too many", "endings lost", "rewards rounded before they are added up"]
)
def test_fast_mode_catches(name, verifier, variants):
    owner, method, fault, _ = FAULTS[name]
    variants.make = lambda: wrapped(owner, method, fault)
    assert not verifier.check(case_of(verifier.run, "fast")).is_equivalent


def test_a_discrete_action_has_to_be_the_same(variants):
    run = small_run("DQN")
    verifier = Verifier(run, apply=variants)

    def next_best(original, agent, state, **options):
        return (original(agent, state, **options) + 1) % 25

    variants.make = lambda: wrapped(Agent, "act_dqn", next_best)
    verdict = verifier.check(case_of(run, "fast"))
    assert verdict.differences[0].what == "proposed action"


def test_forced_runs_store_what_was_forced(variants):
    """A policy that is all wrong, but forced: only its proposals differ."""
    run = small_run("DQN")
    verifier = Verifier(run, apply=variants)
    variants.make = lambda: wrapped(
        Agent, "act_dqn", lambda original, *args, **options: (original(*args, **options) + 1) % 25
    )
    verdict = verifier.check(case_of(run, "fast"))
    forced = {item.what for item in verdict.differences if item.check == "teacher-forced"}
    assert all(what.startswith("proposed action") for what in forced)


def test_the_torchrl_pipeline_is_forced_through_its_tensordict(variants):
    run = small_run("SAC", "torchrl")
    verifier = Verifier(run, apply=variants)

    def act(original, agent, state, **options):
        return [value + 2e-7 for value in original(agent, state, **options)]

    variants.make = lambda: wrapped(Agent, "act_sac", act)
    verdict = verifier.check(case_of(run, "fast"))
    assert verdict.is_equivalent, verdict.sentences
    assert {item.check for item in verdict.deviations} == {
        "teacher-forced",
        "free-running",
        "reward trend",
    }


def test_all_combinations_are_checked_and_announced(monkeypatch):
    checked, heard = [], []
    monkeypatch.setattr(
        ThoroughVerifier, "check", lambda self, case: checked.append((self.run, case)) or case
    )
    plan = VerificationPlan(
        agents=("SAC", "DQN"),
        patches=((), (1, 2)),
        modes=("exact", "fast"),
        seeds=(3, 4),
        steps=50,
    )
    verify(plan, on_verdict=heard.append)
    assert len(checked) == len(set(heard)) == 2 * 2 * 2 * 2 * 2
    for run, case in checked:
        assert (run.agent, run.pipeline, run.seed) == (case.agent, case.pipeline, case.seed)
        assert run.steps == case.steps == 50


def nothing(_patches, _mode):
    return contextlib.nullcontext()


@pytest.mark.slow  # each process imports torch
def test_processes_share_the_runs_and_keep_the_order():
    heard, steps = [], []
    plan = VerificationPlan(
        agents=("DQN", "DDPG"), pipelines=("original",), steps=4, modes=("exact",)
    )
    verification = verify(
        plan,
        apply=nothing,
        jobs=2,
        progress=lambda *news: steps.append(news),
        on_verdict=heard.append,
    )
    assert [verdict.case.agent for verdict in verification.verdicts] == ["DQN", "DDPG"]
    assert verification.is_equivalent
    assert len(heard) == 2
    assert steps[-1] == ("verifying in 2 processes", 2, 2)


def test_progress_names_the_run():
    heard = []
    run = small_run(steps=3)
    verifier = Verifier(
        run,
        apply=lambda *_: contextlib.nullcontext(),
        progress=lambda *news: heard.append(news),
    )
    verifier.check(case_of(run, "exact"))
    assert heard[0] == ("DDPG original seed 0, legacy", 0, 3)
    assert heard[-1] == ("DDPG original seed 0, patches 1-5, exact", 2, 3)


@pytest.mark.parametrize("robots", [1, 5, 17, 64])
def test_as_many_robots_as_asked_for_find_room_all_along(robots: int) -> None:
    (run,) = VerificationPlan(
        agents=("DQN",), pipelines=("original",), steps=20, robots=(robots,)
    ).runs()
    recipe = run.recipe
    environment = MarineNavEnv3(seed=run.seed, schedule=recipe.schedule)
    for name, value in recipe.world.items():
        setattr(environment, name, value)
    for begin in recipe.schedule["timesteps"]:
        environment.total_timesteps = begin
        environment.reset()
        assert len(environment.robots) == robots
    assert run.episode_length < run.steps / 3, "a short run sees several episodes"
    assert not corners_of(run)


def test_a_verdict_names_the_number_of_robots() -> None:
    plan = VerificationPlan(
        agents=("DQN",),
        pipelines=("original", "uara"),
        modes=("exact",),
        patches=((5,),),
        steps=4,
        robots=(2, 3),
    )
    cases = [case for run in plan.runs() for case in plan.cases(run)]
    assert [case.robots for case in cases] == [2, 3, None]
    assert cases[1].label.endswith("exact mode, seed 0, robots 3")
    verdict = Verifier(next(plan.runs())).check(cases[0])
    assert verdict.is_equivalent, verdict.sentences
