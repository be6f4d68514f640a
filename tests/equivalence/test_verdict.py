from __future__ import annotations

import pytest

from syncprobe.equivalence.verdict import (
    Case,
    CaseVerdict,
    Deviation,
    Difference,
    Verification,
    conclude,
    steps_text,
)

CASE = Case(
    agent="IQN", pipeline="original", patches=(1, 2, 3, 4, 5), mode="exact", seed=0, steps=200
)
DIFFERENCE = Difference(check="exact", what="reward", step=3, robot=1, expected="1.0", found="2.0")


@pytest.mark.parametrize(
    ("patches", "text"),
    [((), "none"), ((2,), "2"), ((1, 2, 3), "1-3"), ((1, 4), "1,4"), ((2, 3, 5), "2,3,5")],
)
def test_steps_read_as_they_are_typed(patches, text):
    assert steps_text(patches) == text


def test_a_sentence_has_everything_in_it():
    assert DIFFERENCE.sentence(CASE) == (
        "IQN, original pipeline, patches 1-5, exact mode, seed 0: reward at step 3, robot 1 is 2.0, "
        "legacy has 1.0 [exact]"
    )


def test_all_cases_must_be_equivalent():
    good = CaseVerdict(case=CASE, compared=5)
    bad = CaseVerdict(case=CASE, compared=5, found=9, differences=(DIFFERENCE,))
    assert Verification(verdicts=(good,)).is_equivalent
    assert not Verification(verdicts=(good, bad)).is_equivalent


def test_the_conclusion_states_the_mode():
    good = conclude(Verification(verdicts=(CaseVerdict(case=CASE, compared=5),)))
    assert good.is_equivalent is True
    assert good.summary == "identical (exact mode, 200 steps, bit for bit)"


def test_the_conclusion_lists_what_differs():
    bad = CaseVerdict(case=CASE, compared=5, found=9, differences=(DIFFERENCE,))
    verdict = conclude(Verification(verdicts=(bad,)))
    assert verdict.is_equivalent is False
    assert verdict.summary == "NOT identical (exact mode, 200 steps): 9 values differ"
    assert verdict.differences == (DIFFERENCE.sentence(CASE),)


def test_rewards_that_drift_by_chance_are_not_hidden():
    drift = Deviation(
        check="reward trend", what="episode reward", largest=2.0, used=200.0, limit="0.01"
    )
    fast = CaseVerdict(case=CASE, compared=5, deviations=(drift,))
    assert fast.has_drifted
    summary = conclude(Verification(verdicts=(fast,))).summary
    assert summary.endswith("; rewards drift apart by rounding, not significantly)")
