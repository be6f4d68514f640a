from __future__ import annotations

import math

import numpy as np
import pytest

from syncprobe.equivalence.evidence import evidence_of
from syncprobe.equivalence.trace import StepTrace, Trace
from syncprobe.equivalence.verdict import Case

CASE = Case(agent="DQN", pipeline="original", patches=(1,), mode="fast", seed=0, steps=2)


def run(*steps: tuple[tuple[float | None, ...], tuple[float, ...]]) -> Trace:
    return Trace(
        steps=tuple(
            StepTrace(
                timestep=number,
                generators={},
                actions=tuple(None if each is None else np.array([each]) for each in actions),
                rewards=np.array(rewards),
                episode_rewards=np.zeros(len(rewards)),
            )
            for number, (actions, rewards) in enumerate(steps)
        )
    )


def test_rewards_are_summed_over_robots_and_actions_compared_robot_by_robot():
    legacy = run(((1.0, 2.0), (1.0, 2.0)), ((1.0, None), (3.0, 0.0)))
    variant = run(((1.0, 2.5), (1.0, 1.0)), ((1.0, None), (3.0, 0.0)))
    evidence = evidence_of(CASE, legacy, variant)
    assert evidence.legacy_rewards == (3.0, 3.0)
    assert evidence.patched_rewards == (2.0, 3.0)
    assert evidence.action_differences == (0.5, 0.0)


@pytest.mark.parametrize("actions", [(None,), (1.0, 1.0)])
def test_a_robot_that_acts_in_one_run_only_is_infinitely_apart(actions):
    evidence = evidence_of(CASE, run(((1.0,), (0.0,))), run((actions, (0.0,))))
    assert evidence.action_differences == (math.inf,)


def test_a_run_that_stopped_early_is_compared_as_far_as_it_got():
    step = ((1.0,), (0.5,))
    evidence = evidence_of(CASE, run(step, step), run(step))
    assert len(evidence.legacy_rewards) == len(evidence.action_differences) == 1
