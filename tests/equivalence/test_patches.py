"""The patches against the legacy code: every agent, pipeline, level and mode, and subsets at random."""

from __future__ import annotations

import functools
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncprobe.equivalence import Stage, TrainingRun, Verifier
from syncprobe.targets.legacy_code import AGENTS, PIPELINES
from tests.equivalence.variants import case_of, small_run
from tests.slowness import examples, slow_unless

ALL = (1, 2, 3, 4, 5)
LEVELS = [ALL[:last] for last in range(1, 6)]


@functools.cache
def verifier_of(agent: str, pipeline: str, seed: int = 0) -> Verifier:
    """One short legacy run serves all levels, subsets and modes."""
    history = 1500 if agent == "Rainbow" else 300
    return Verifier(
        small_run(agent, pipeline, seed=seed, history=history, buffer_size=history + 20)
    )


def check(verifier: Verifier, mode: str, patches: tuple[int, ...]) -> None:
    verdict = verifier.check(case_of(verifier.run, mode, patches))
    assert verdict.is_equivalent, "\n".join(verdict.sentences)
    assert not verdict.deviations, "on the host, fast mode has no need of its limits"


QUICK = {
    ("DDPG", "torchrl", "exact"),
    ("Rainbow", "original", "fast"),
}
"""The others take long together."""


@pytest.mark.parametrize(
    ("agent", "pipeline", "mode"),
    slow_unless(
        lambda *case: case in QUICK, itertools.product(AGENTS, PIPELINES, ("exact", "fast"))
    ),
)
def test_every_level_is_identical(agent, pipeline, mode):
    for patches in LEVELS:
        check(verifier_of(agent, pipeline), mode, patches)


@settings(max_examples=examples(15), deadline=None, derandomize=True)
@given(
    agent=st.sampled_from(AGENTS),
    pipeline=st.sampled_from(PIPELINES),
    mode=st.sampled_from(["exact", "fast"]),
    patches=st.sets(st.sampled_from(ALL), min_size=1),
    seed=st.integers(0, 1),
)
def test_any_subset_is_identical(agent, pipeline, mode, patches, seed):
    check(verifier_of(agent, pipeline, seed), mode, tuple(sorted(patches)))


@pytest.mark.parametrize("agent", ["AC-IQN", "IQN", "SAC"])
def test_robots_that_see_nothing_are_identical(agent):
    """Batches without any object are learnt from differently: the encoder of objects gets no gradient."""
    run = TrainingRun(
        agent=agent,
        steps=90,
        stages=(Stage(robots=1, cores=0, obstacles=0, distance=3.0),),
        evaluation=(Stage(robots=1, cores=0, obstacles=0),),
        history=0,
        buffer_size=80,
    )
    check(Verifier(run), "exact", ALL)


@pytest.mark.parametrize("mode", ["exact", "fast"])
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_many_robots_are_identical(pipeline, mode):
    """From eight robots on, normals drawn together would differ from normals drawn one by one."""
    run = small_run(
        "SAC",
        pipeline,
        steps=8,
        stages=(Stage(robots=9, cores=0, obstacles=1, distance=3.0),),
        world={"width": 55, "height": 55, "clear_r": 4.0},
    )
    check(Verifier(run), mode, ALL)
