"""Every program of the corpus gives the CPU's results, and is counted and blamed as its comments say."""

from __future__ import annotations

import pytest

from tests.programs.corpus import CORPUS, Program
from tests.slowness import slow_unless

ENOUGH = 40
QUICK = {
    "language/character_gpt",
    "language/complex_rotary",
    "libraries/ppo_stable_baselines",
    "rl/deep_q_learning",
    "rl/proximal_policy",
    "rl/soft_actor_critic",
    "training/mixed_precision",
    "vision/digits",
}
"""One of each sort for every day; the others are slow together."""


PROGRAMS = pytest.mark.parametrize(
    "program",
    slow_unless(lambda program: program.name in QUICK, CORPUS),
    ids=lambda program: program.name,
)


@PROGRAMS
def test_gives_the_results_of_the_cpu(program: Program) -> None:
    plain, simulated = program.both
    assert simulated.profile.run.is_complete, simulated.profile.run.interruption
    assert simulated.printed == plain.printed
    assert plain.printed.strip(), "a program that prints nothing proves nothing"


@PROGRAMS
def test_waits_as_often_and_where_it_says(program: Program) -> None:
    profile = program.both[1].profile
    assert profile.per_step["syncs"] == pytest.approx(program.expected_syncs, abs=1e-6)
    assert program.expected_blame in program.first_blamed(profile)


def test_there_are_enough_programs_and_those_for_every_day_are_among_them() -> None:
    names = {program.name for program in CORPUS}
    assert len(names) >= ENOUGH
    assert names >= QUICK
