"""Comparisons, verifications and plans as text."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from syncprobe.comparison.levels import PlanReport, PlanStep, levels_of
from syncprobe.comparison.ratio import speedup_of
from syncprobe.comparison.side_by_side import compare
from syncprobe.equivalence.verdict import (
    Case,
    CaseVerdict,
    Deviation,
    Difference,
    Verdict,
    Verification,
)
from syncprobe.profiles.model import Time
from syncprobe.rendering import Page
from syncprobe.rendering.answer.first_screen import MOST_LINES
from syncprobe.rendering.variants import plan, verdict
from syncprobe.rendering.variants.comparison import COMPARISON_FORMATS
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
        regions={
            "act": factories.region(0.15, 1.2, syncs=20, launch=40),
            "env": factories.region(1.0, 1.05),
            "learn": factories.region(0.10, 0.3, syncs=0.25),
        },
        time=Time(
            modelled_ms_per_step=1.25,
            device_busy=0.128,
            spec="t4",
            own=factories.own_time(1.2),
        ),
    )
    return compare(
        factories.profile(time=replace(factories.profile().time, own=factories.own_time(1.2))),
        after,
        speedup=speedup_of([20.0, 22.0, 21.0], [2.0, 2.2, 2.1]),
        verdict=IDENTICAL,
    )


def lines_of(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_the_answer_comes_last(comparison):
    lines = lines_of(COMPARISON_FORMATS["console"](comparison, Page(width=140)))
    assert lines[0] == (
        "syncprobe: AC-IQN baseline and AC-IQN optimized: train, 5 robots, seed 0, 10 steps, device sim (t4)"
    )
    assert lines[-6:] == [
        (
            "Syncs, copies and launches, modelled (t4): 0.80 ms, then 0.05 ms per step, counts times costs: "
            "0.75 ms less."
        ),
        "Own code: undecided, between 0.40 ms less and 0.40 ms more; taken as 1.20 ms in both.",
        "Modelled (t4): 2.00 ms, then 1.25 ms per step: 1.6x faster.",
        (
            "Measured (CPU), in turns: 21.0 ms, then 2.10 ms per step (medians of 3 rounds): 10x faster, "
            "95% interval 10x to 10x."
        ),
        "Times, regions, all lines and ceilings: --full.",
        "Equivalence: identical (fast mode, 200 steps).",
    ]


def test_the_answer_needs_one_screen_and_names_the_syncs(comparison):
    for width in (60, 80, 200):
        text = COMPARISON_FORMATS["console"](comparison, Page(width=width))
        assert len(text.splitlines()) <= MOST_LINES
        assert max(map(len, text.splitlines())) <= width
    lines = lines_of(text)
    assert "syncs 20.25 1 20x" in lines
    assert "launch 40 20 2.00x" in lines
    assert not any(line.startswith(("bytes to host", "explicit sync")) for line in lines)
    assert "policy/agent.py:41 copy_to_host 5 400" in lines
    assert "patches/decisions.py:7 scalar_read 5 50.0" in lines


def test_counts_bytes_regions_and_sites_are_there(comparison):
    lines = lines_of(COMPARISON_FORMATS["console"](comparison, Page(width=140, is_full=True)))
    assert "syncs 20.25 1 20x" in lines
    assert "launch 40 20 2.00x" in lines
    assert "bytes to host 41 B 41 B 1.00x" in lines
    assert "device busy, modelled 8.0% 13% -" in lines
    assert "act 20 20 40 40 1.20 1.20 0.88 0.15" in lines
    assert "Sites that are gone: 5 lines" in lines
    assert "policy/agent.py:41 copy_to_host 5 400" in lines
    assert "Sites that are new: 1 line" in lines
    assert "patches/decisions.py:7 scalar_read 5 50.0" in lines
    assert any(line.startswith("region env 50% 2.00x") for line in lines)


def test_the_table_of_times_has_the_figures_of_the_headline(comparison):
    lines = lines_of(COMPARISON_FORMATS["console"](comparison, Page(width=140, is_full=True)))
    assert "measured (CPU), median round, ms 21.0 2.10 10x" in lines
    assert not any("median step" in line for line in lines)


def test_a_ratio_whose_interval_contains_one_is_undecided():
    speedup = speedup_of([20.0, 22.0, 18.0], [21.0, 20.0, 19.0])
    comparison = compare(factories.profile(), factories.profile(), speedup=speedup)
    text = " ".join(COMPARISON_FORMATS["console"](comparison, Page()).split())
    assert "(medians of 3 rounds): undecided, 95% interval 0.95x to 1.10x." in text
    assert "faster, 95%" not in text


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
    text = COMPARISON_FORMATS["console"](comparison, Page(is_full=True))
    assert "… and 27 more; --json has them all." in text
    brief = COMPARISON_FORMATS["console"](comparison, Page())
    assert "Syncs that are gone: 39 lines" in brief
    assert len(brief.splitlines()) <= MOST_LINES
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
        "remarks": [],
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
    assert "step1 20.25 40 15 2.00 3.00 3.00x -" in lines, "one round has no interval"
    data = json.loads(plan.render_json(report))
    assert data["levels"][1]["speedup"]["median"] == 3.0
    assert data["levels"][1]["spec"] == "t4"


def test_a_plan_as_markdown_opens_with_its_levels_and_leaves_no_step_out():
    profile = factories.profile()
    levels = levels_of([("baseline", profile, [9.0]), ("step1", profile, [3.0])])
    text = plan.render_markdown(PlanReport(steps=(STEP,), levels=levels))
    head, fold = text.split("<details>")
    assert "### What each level does per step" in head
    assert "| step1 | 20.25 |" in head
    assert "Measured in turns" in head
    assert "<summary>Step 1, decide: Decide</summary>" in fold
    assert "- Replaces acting." in fold
    assert "\n\n\n" not in text


def test_a_plan_that_was_not_run_is_not_folded_away():
    text = plan.render_markdown(PlanReport(steps=(STEP,), levels=()))
    assert text == (
        "## syncprobe: the five-step plan\n\n"
        "### Step 1, decide: Decide\n\n- Replaces acting.\n- Removes syncs.\n"
    )


def test_variants_of_a_workload_without_agents_have_names():
    before, after = (
        factories.profile(
            run=factories.run(
                target="uara", agent=None, robots=None, stations=3, users=7, patches=patches
            )
        )
        for patches in ((), (1, 2, 3, 4, 5))
    )
    text = COMPARISON_FORMATS["md"](compare(before, after))
    assert text.startswith(
        "## syncprobe: uara baseline and uara optimized: uara, 3 stations, 7 users, seed 0,"
    )
    report = PlanReport(steps=(STEP,), levels=levels_of([("baseline", before, [9.0])]))
    assert plan.render_markdown(report).startswith(
        "## syncprobe: the five-step plan: uara, 3 stations, 7 users, seed 0,"
    )


def test_one_round_has_no_interval(comparison):
    speedup = speedup_of([20.0], [2.0])
    text = COMPARISON_FORMATS["md"](replace(comparison, speedup=speedup))
    assert "10x faster, no interval from one round." in text
