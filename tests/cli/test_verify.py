"""``syncprobe verify``: what is checked, what is shown, how it ends."""

from __future__ import annotations

import json

import pytest

from syncprobe import equivalence
from syncprobe.cli import main
from syncprobe.equivalence import TrainingRun, VerificationPlan
from syncprobe.equivalence.verdict import CaseVerdict, Difference, Verification


@pytest.fixture
def asked(monkeypatch):
    """The plan that the library is given; every case of it passes unless told otherwise."""
    seen = {"found": 0}

    def verify(plan, *, jobs, progress, on_verdict):
        seen.update(plan=plan, jobs=jobs)
        case = next(plan.cases(TrainingRun(agent=plan.agents[0], steps=plan.steps)))
        progress("DQN original seed 0, legacy", 0, plan.steps)
        difference = Difference(check="exact", what="loss", step=3, expected="1.0", found="2.0")
        verdict = CaseVerdict(
            case=case,
            compared=10,
            found=seen["found"],
            differences=(difference,) * min(seen["found"], 1),
        )
        on_verdict(verdict)
        print("the program's own words")
        return Verification(verdicts=(verdict,))

    monkeypatch.setattr(equivalence, "verify", verify)
    return seen


def test_by_default_everything_is_checked_in_fast_mode(asked, capsys):
    assert main(["verify"]) == 0
    assert asked["plan"] == VerificationPlan()
    shown = capsys.readouterr()
    assert "syncprobe: identical: 1 case checked" in shown.out
    assert "syncprobe: DQN original seed 0, legacy: 0 of 200 steps" in shown.err
    assert "patches 1-5, fast mode, seed 0: identical" in shown.err


def test_every_option_reaches_the_library(asked):
    words = [
        "verify",
        "--agents",
        "sac,ac_iqn",
        "--pipelines",
        "torchrl",
        "--patches",
        "1-3/2,5",
        "--mode",
        "both",
        "--steps",
        "50",
        "--seeds",
        "3,4",
        "--robots",
        "1,64",
        "--jobs",
        "2",
    ]
    assert main(words) == 0
    assert asked["plan"] == VerificationPlan(
        agents=("SAC", "AC-IQN"),
        pipelines=("torchrl",),
        patches=((1, 2, 3), (2, 5)),
        modes=("exact", "fast"),
        seeds=(3, 4),
        steps=50,
        robots=(1, 64),
    )
    assert asked["jobs"] == 2


def test_mode_max_is_judged_over_five_seeds(asked, capsys):
    assert main(["verify", "--mode", "max"]) == 0
    assert (asked["plan"].modes, asked["plan"].seeds) == (("max",), (0, 1, 2, 3, 4))
    assert main(["verify", "--mode", "max", "--seeds", "0,1,2,2,1"]) == 2
    assert "at least 5 --seeds" in capsys.readouterr().err


def test_cumulative_levels_begin_with_none(asked):
    assert main(["verify", "--patches", "cumulative"]) == 0
    assert asked["plan"].patches == (
        (),
        (1,),
        (1, 2),
        (1, 2, 3),
        (1, 2, 3, 4),
        (1, 2, 3, 4, 5),
    )


def test_a_difference_fails_and_is_listed(asked, capsys):
    asked["found"] = 2
    assert main(["verify", "--agents", "DQN", "--mode", "exact"]) == 1
    out = capsys.readouterr().out
    assert "2 DIFFERENCES" in out
    assert "seed 0: loss at step 3 is 2.0, legacy has 1.0 [exact]" in " ".join(out.split())


def test_json_is_alone_on_standard_output(asked, capsys):
    asked["found"] = 1
    assert main(["verify", "--json"]) == 1
    shown = capsys.readouterr()
    assert json.loads(shown.out)["equivalent"] is False
    assert "the program's own words" in shown.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--agents", "SAK"], "Did you mean 'SAC'?"),
        (["--pipelines", "orig1nal"], "Did you mean 'original'?"),
        (["--patches", "6"], "steps go from 1 to 5"),
        (["--seeds", "x"], "whole numbers"),
        (["--seeds", ","], "at least one"),
        (["--robots", "many"], "--robots takes whole numbers"),
        (["--steps", "1"], "at least 2"),
        (["--mode", "slow"], "slow"),
    ],
)
def test_what_does_not_make_sense_is_refused(words, hint, asked, capsys):
    assert main(["verify", *words]) == 2
    assert hint in capsys.readouterr().err
    assert "plan" not in asked


@pytest.mark.slow  # trains; tests/equivalence does so every day
def test_a_short_verification_runs_for_real(capsys):
    words = [
        "verify",
        "--agents",
        "DQN",
        "--pipelines",
        "original",
        "--steps",
        "6",
        "--mode",
        "exact",
        "--json",
    ]
    assert main(words) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["equivalent"] is True
    assert data["cases"][0]["compared"] > 300
