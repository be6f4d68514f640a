"""Corners of the workloads beside MarineNav: every step alone, and all of them, does there what unpatched code does."""

from __future__ import annotations

import pytest

from syncprobe.equivalence.corners import Corner, corners_of
from syncprobe.equivalence.verdict import Case
from syncprobe.equivalence.verifying import Verifier, run_of
from syncprobe.plan_steps import NUMBERS

RUNS = (("packing", "DQN"), ("vecenv", "PPO"), ("vecenv", "DQN"))
CORNERS = [
    (pipeline, corner)
    for pipeline, agent in RUNS
    for corner in corners_of(run_of(pipeline, agent, seed=0, steps=20))
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pipeline", "corner"),
    CORNERS,
    ids=[f"{pipeline}, {corner.run.agent}, {corner.name}" for pipeline, corner in CORNERS],
)
def test_nothing_differs_in_a_corner(pipeline: str, corner: Corner) -> None:
    verifier = Verifier(corner.run)
    for patches in corner.choices(NUMBERS):
        case = Case(
            agent=corner.run.agent,
            pipeline=pipeline,
            patches=patches,
            mode="exact",
            seed=0,
            steps=corner.run.steps,
        )
        verdict = verifier.check(case)
        assert verdict.is_equivalent, verdict.differences
        assert verdict.compared > 100
