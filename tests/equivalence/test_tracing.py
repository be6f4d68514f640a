"""What a trace holds, and that tracing changes nothing."""

from __future__ import annotations

import pytest

from legacy_marinenav.policy import training_loop
from legacy_marinenav.policy.agent import Agent
from syncprobe.equivalence import checks, trace_run
from tests.equivalence.variants import small_run, wrapped


@pytest.fixture(scope="module", params=["original", "torchrl"])
def trace(request):
    return trace_run(small_run("AC-IQN", request.param))


def test_every_step_is_there_with_all_it_did(trace):
    assert [step.timestep for step in trace.steps] == list(range(16))
    for step in trace.steps:
        robots = len(step.actions)
        assert robots in {2, 3}
        assert {
            len(values)
            for values in (step.rewards, step.dones, step.infos, step.poses, step.deactivated)
        } == {robots}
        assert (step.episode_rewards != 0).any()


def test_the_run_has_what_can_go_wrong_in_it(trace):
    assert trace.steps[-1].episode >= 2, "episodes end"
    assert {len(step.actions) for step in trace.steps} == {2, 3}, "robot counts change"
    assert [update.timestep for update in trace.updates] == [4, 8, 12]
    assert all(len(update.losses) == 2 for update in trace.updates)
    assert trace.soft_updates == (8,)
    assert trace.evaluations == (4, 8)
    assert trace.replay["size"] == 320, "the ring has wrapped around"
    assert trace.replay["states"].shape == (320, 33)


def test_files_are_loaded_back(trace):
    assert "actor_network_params.pth" in trace.saved["files"]
    assert len(trace.saved) > 10
    assert len(trace.evaluation_results["rewards"]) == 2


def test_choices_are_kept_in_order(trace):
    training = [proposal for proposal in trace.proposals if not proposal.is_evaluation]
    assert len(training) >= sum(
        action is not None for step in trace.steps for action in step.actions
    )
    assert any(proposal.is_evaluation for proposal in trace.proposals)


def test_the_legacy_code_is_left_as_it_was():
    before = training_loop.MAX_EPISODE_LENGTH
    trace_run(small_run(steps=3))
    assert before == training_loop.MAX_EPISODE_LENGTH == 1000


@pytest.mark.parametrize("agent", ["SAC", "IQN"])
def test_two_legacy_runs_are_identical(agent):
    run = small_run(agent)
    found = checks.check_exact(trace_run(run), trace_run(run))
    assert found.found == 0
    assert found.compared > 500


def test_another_seed_is_another_run():
    first, second = trace_run(small_run(seed=0)), trace_run(small_run(seed=1))
    assert checks.check_exact(first, second).found > 100


def test_rainbow_is_traced_with_its_priorities():
    trace = trace_run(small_run("Rainbow", history=2000, buffer_size=2010))
    assert trace.replay["priorities"][0] > 0
    assert trace.replay["self_state"].shape == (2010, 7)
    assert any("epsilon" in name for name in trace.parameters), "noise is part of the policy"


def test_a_variant_that_raises_is_reported_not_raised():
    def broken(_original, agent):
        raise RuntimeError(f"no {agent.agent_type} today")

    run = small_run()
    trace = trace_run(run, wrapped(Agent, "train", broken))
    assert trace.failure == "RuntimeError at step 4: no DDPG today"
    found = checks.check_exact(trace_run(run), trace)
    assert [difference.what for difference in found.differences] == ["failure"]


def test_a_variant_that_cannot_be_built_is_reported_too():
    def broken(_original, *_args, **_options):
        raise ValueError("no memory")

    trace = trace_run(small_run(), wrapped(Agent, "__init__", broken))
    assert trace.failure == "ValueError while being built: no memory"


def test_an_error_of_the_legacy_code_is_an_error():
    def broken(_original, _agent):
        raise RuntimeError("legacy")

    with wrapped(Agent, "train", broken), pytest.raises(RuntimeError, match="legacy"):
        trace_run(small_run())
