"""Comparisons, verifications and plans as text."""

from __future__ import annotations

import json

import pytest

from syncprobe.analysis.compare import compare
from syncprobe.analysis.levels import PlanReport, PlanStep, levels_of
from syncprobe.analysis.ratio import speedup_of
from syncprobe.analysis.verdict import (
    Case,
    CaseVerdict,
    Deviation,
    Difference,
    Verdict,
    Verification,
)
from syncprobe.rendering import Page, plan, verdict
from syncprobe.rendering.comparison import COMPARISON_FORMATS
from tests.rendering import factories

IDENTICAL = Verdict(is_equivalent=True, summary="identical (fast mode, 200 steps)")
DIFFERENT = Verdict(
    is_equivalent=False, summary="NOT identical: 2 values differ", differences=("reward at step 3",)
)


@pytest.fixture
def comparison():
    after = factories.profile(
        run=factories.run(patches=(1, 2, 3, 4, 5)),
        per_step=factories.rates(syncs=1, copy_to_host=1, launch=20, bytes_to_host=41),
        sites=(factories.site(path="patches/decisions.py", line=7),),
    )
    return compare(
        factories.profile(),
        after,
        speedup=speedup_of([20.0, 22.0, 21.0], [2.0, 2.2, 2.1]),
        verdict=IDENTICAL,
    )


def lines_of(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_the_answers_come_first(comparison):
    lines = lines_of(COMPARISON_FORMATS["console"](comparison, Page(width=140)))
    assert lines[:4] == [
        "syncprobe: AC-IQN baseline and AC-IQN optimized: train, 5 robots, seed 0, 10 steps, device sim (t4)",
        "Equivalence: identical (fast mode, 200 steps).",
        (
            "Measured (CPU), in turns: 21.0 ms, then 2.10 ms per step on average: 10x as fast "
            "(95% interval 10x to 10x, 3 rounds)."
        ),
        "Modelled (t4): 2.00 ms, then 2.00 ms per step: 1.00x as fast.",
    ]


def test_counts_bytes_regions_and_sites_are_there(comparison):
    lines = lines_of(COMPARISON_FORMATS["console"](comparison, Page(width=140)))
    assert "syncs 20.25 1 20x" in lines
    assert "launch 40 20 2.00x" in lines
    assert "bytes to host 41 B 41 B 1.00x" in lines
    assert "device busy, modelled 8.0% 8.0% -" in lines
    assert "act 20 20 40 40 1.20 1.20 0.88 0.88" in lines
    assert "Sites that are gone: 5 lines" in lines
    assert "policy/agent.py:41 copy_to_host 5 400" in lines
    assert "Sites that are new: 1 line" in lines
    assert "patches/decisions.py:7 scalar_read 5 50.0" in lines
    assert any(line.startswith("region env 50% 2.00x") for line in lines)


def test_what_differs_is_listed():
    comparison = compare(factories.profile(), factories.profile(), verdict=DIFFERENT)
    text = COMPARISON_FORMATS["console"](comparison, Page())
    assert "Equivalence: NOT identical: 2 values differ." in text
    assert "What differs\n   reward at step 3" in text


def test_profiles_that_were_only_read_have_no_ratio():
    text = COMPARISON_FORMATS["console"](compare(factories.profile(), factories.profile()), Page())
    assert "Equivalence: not checked." in text
    assert "no ratio is given" in text


def test_many_lines_are_cut_with_a_note():
    sites = tuple(factories.site(line=line) for line in range(1, 40))
    comparison = compare(factories.profile(sites=sites), factories.profile(sites=()))
    text = COMPARISON_FORMATS["console"](comparison, Page())
    assert "… and 27 more; --json has them all." in text
    assert len(json.loads(COMPARISON_FORMATS["json"](comparison))["disappeared"]) == 39


@pytest.mark.parametrize("name", COMPARISON_FORMATS)
def test_every_format_shows_profiles_without_anything(name):
    empty = factories.empty_profile()
    assert COMPARISON_FORMATS[name](compare(empty, empty)).endswith("\n")


def test_json_keeps_measured_and_modelled_apart(comparison):
    data = json.loads(COMPARISON_FORMATS["json"](comparison))
    assert data["schema"] == "syncprobe.comparison/1"
    assert data["verdict"] == {
        "equivalent": True,
        "summary": "identical (fast mode, 200 steps)",
        "differences": [],
    }
    assert data["speedup"]["ratio"]["median"] == pytest.approx(10.0)
    assert data["per_step"]["launch"] == {"before": 40.0, "after": 20.0, "factor": 2.0}
    assert data["regions"]["env"]["modelled_ms_per_step"]["before"] == 1.0
    assert data["after"]["run"]["patches"] == [1, 2, 3, 4, 5]


def test_markdown_has_the_same_words(comparison):
    text = COMPARISON_FORMATS["md"](comparison)
    assert text.startswith("## syncprobe: AC-IQN baseline and AC-IQN optimized")
    assert "| syncs | 20.25 | 1 | 20x |" in text
    assert "- Equivalence: identical" in text


CASE = Case(agent="SAC", pipeline="torchrl", patches=(1, 2), mode="fast", seed=4, steps=50)


def verification(**fields) -> Verification:
    deviation = Deviation(
        check="teacher-forced", what="proposed action", largest=4e-7, used=0.4, limit="1e-06"
    )
    case = CaseVerdict(case=CASE, compared=1234, deviations=(deviation,), seconds=7.5, **fields)
    return Verification(verdicts=(case,))


DIFFERENCE = Difference(check="exact", what="loss", step=8, expected="1.0", found="1.5")


def test_a_verification_is_a_table():
    lines = lines_of(verdict.render_console(verification(), Page(width=140)))
    assert lines[0] == "syncprobe: identical: 1 case checked"
    assert (
        "SAC torchrl 1-2 fast 4 50 1,234 identical proposed action 4.0e-07 (40%, teacher-forced) 7.50"
        in lines
    )


def test_differences_are_sentences():
    text = verdict.render_console(
        verification(found=30, differences=(DIFFERENCE,)), Page(width=200)
    )
    assert "NOT identical: 1 of 1 case differ from legacy" in text
    assert "30 DIFFERENCES" in text
    assert DIFFERENCE.sentence(CASE) in text
    assert "and 29 more." in text


def test_a_verification_as_json():
    data = json.loads(verdict.render_json(verification(found=1, differences=(DIFFERENCE,))))
    assert data["equivalent"] is False
    (case,) = data["cases"]
    assert (case["agent"], case["patches"], case["found"]) == ("SAC", [1, 2], 1)
    assert case["differences"][0]["sentence"] == DIFFERENCE.sentence(CASE)
    assert case["deviations"][0]["largest"] == 4e-7


STEP = PlanStep(number=1, name="decide", title="Decide", replaces="acting", removes="syncs")


def test_a_plan_that_was_not_run_has_no_figures():
    text = plan.render_console(PlanReport(steps=(STEP,), levels=()))
    assert "Step 1, decide: Decide\n   Replaces acting.\n   Removes syncs." in text
    assert "modelled" not in text


def test_a_plan_shows_its_levels():
    profile = factories.profile()
    levels = levels_of([("baseline", profile, [9.0]), ("step1", profile, [3.0])])
    report = PlanReport(steps=(STEP,), levels=levels)
    lines = lines_of(plan.render_console(report, Page(width=140)))
    assert "step1 20.25 40 15 2.00 3.00 3.00x 3.00x to 3.00x" in lines
    data = json.loads(plan.render_json(report))
    assert data["levels"][1]["speedup"]["median"] == 3.0
    assert data["levels"][1]["spec"] == "t4"
