"""``syncprobe compare``: what is asked of the library, what is shown, how it ends."""

from __future__ import annotations

import json

import pytest

import syncprobe
from syncprobe import comparing, running
from syncprobe.analysis.compare import compare as side_by_side
from syncprobe.analysis.model import Digest
from syncprobe.analysis.verdict import Verdict
from syncprobe.cli import main
from syncprobe.targets.base import TargetOptions
from tests.rendering import factories


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    factories.profile().save("a.json")
    factories.profile(run=factories.run(patches=(1,))).save("b.json")
    other = Digest(actions="x", rewards="y")
    factories.profile(digest=other).save("other.json")


def test_two_files_are_only_read(files, capsys):
    assert main(["compare", "a.json", "b.json"]) == 0
    out = capsys.readouterr().out
    assert "AC-IQN baseline and AC-IQN step1" in out
    assert "Equivalence: identical (digests of all actions and rewards, 42 steps)." in out
    assert "no ratio is given" in out


def test_digests_that_differ_prove_nothing_and_fail_nothing(files, capsys):
    assert main(["compare", "a.json", "other.json", "--json"]) == 0
    verdict = json.loads(capsys.readouterr().out)["verdict"]
    assert verdict["equivalent"] is None
    assert verdict["summary"].startswith("not checked")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("c.json", "{"),
        ("c.md", "## syncprobe"),
        ("c.html", "<!DOCTYPE html>"),
        ("c.txt", "syncprobe: AC-IQN"),
    ],
)
def test_the_comparison_can_be_kept(name, start, files, tmp_path, capsys):
    assert main(["compare", "a.json", "b.json", "-o", name]) == 0
    assert (tmp_path / name).read_text().startswith(start)
    assert f"Comparison written to {name}." in capsys.readouterr().err


def test_a_page_goes_beside_everything_else(files, tmp_path, capsys):
    assert (
        main(["compare", "a.json", "b.json", "--html", "pages/c.html", "-o", "c.md", "--json"]) == 0
    )
    shown = capsys.readouterr()
    assert json.loads(shown.out)["schema"] == "syncprobe.comparison/1"
    page = (tmp_path / "pages" / "c.html").read_text(encoding="utf-8")
    assert "Equivalence: identical (digests of all actions and rewards, 42 steps)." in page
    assert (tmp_path / "c.md").exists()
    assert "Comparison written to pages/c.html." in shown.err


@pytest.mark.parametrize("option", ["--html", "-o"])
def test_a_place_that_cannot_hold_the_comparison_is_refused_before_the_run(
    option, asked, tmp_path, capsys
):
    assert main(["compare", "baseline", "optimized", option, str(tmp_path)]) == 2
    assert "options" not in asked
    assert "is a folder" in capsys.readouterr().err


@pytest.fixture
def asked(monkeypatch):
    """What the library is asked for, answered with a verdict of the test's choice."""
    seen = {"verdict": Verdict(is_equivalent=True, summary="identical")}

    def compare(first, second, options):
        seen.update(first=first, second=second, options=options)
        options.progress("timing in turns", 0, 4)
        return side_by_side(factories.profile(), factories.profile(), verdict=seen["verdict"])

    monkeypatch.setattr("syncprobe.cli.compare.compare", compare)
    return seen


def test_every_option_reaches_the_library(asked):
    words = [
        "compare",
        "baseline",
        "step3",
        "--target",
        "torchrl",
        "--agent",
        "SAC",
        "--steps",
        "7",
        "--warmup",
        "3",
        "--robots",
        "2",
        "--cores",
        "1",
        "--obstacles",
        "0",
        "--seed",
        "9",
        "--device",
        "sim",
        "--gpu",
        "a100",
        "--mode",
        "exact",
        "--rounds",
        "2",
        "--verify-steps",
        "30",
    ]
    assert main(words) == 0
    assert (asked["first"], asked["second"]) == ("baseline", "step3")
    options = asked["options"]
    assert options.target == TargetOptions(
        agent="SAC", robots=2, cores=1, obstacles=0, seed=9, steps=7, warmup=3, mode="exact"
    )
    assert (options.name, options.device, options.gpu) == ("torchrl", "sim", "a100")
    assert (options.rounds, options.verify_steps) == (2, 30)
    assert options.command == (
        "syncprobe compare baseline step3 --target torchrl --agent SAC --steps 7 --warmup 3 "
        "--robots 2 --cores 1 --obstacles 0 --seed 9 --mode exact --device sim --gpu a100"
    )


def test_variants_that_are_not_the_same_fail(asked, capsys):
    asked["verdict"] = Verdict(
        is_equivalent=False, summary="NOT identical", differences=("reward at step 3 is off",)
    )
    assert main(["compare", "baseline", "optimized"]) == 1
    assert "reward at step 3 is off" in capsys.readouterr().out


def test_a_name_that_does_not_exist_is_suggested(capsys):
    assert main(["compare", "baseline", "optimised"]) == 2
    assert "Did you mean 'optimized'?" in capsys.readouterr().err


def test_a_file_that_does_not_exist_is_named(capsys):
    assert main(["compare", "nowhere.json", "baseline"]) == 2
    assert "nowhere.json" in capsys.readouterr().err


def test_a_name_beside_a_file_runs_as_the_file_did(files, monkeypatch):
    calls = []

    def run(name, options):
        calls.append((name, options))
        return factories.profile(run=factories.run(patches=options.target.patches))

    monkeypatch.setattr(running, "run", run)
    comparison = syncprobe.compare("a.json", "step2", robots=3)
    ((name, options),) = calls
    assert name == "train"
    assert options.target == TargetOptions(
        agent="AC-IQN", robots=3, cores=4, obstacles=4, seed=0, steps=10, warmup=32, patches=(1, 2)
    )
    assert comparison.speedup is None
    assert comparison.verdict is not None


def test_profiles_are_compared_as_they_are():
    comparison = syncprobe.compare(factories.profile(), factories.profile())
    assert comparison.verdict is not None
    assert comparison.verdict.is_equivalent is True


def test_scripts_have_no_variants(capsys):
    options = comparing.CompareOptions(name="script.py")
    with pytest.raises(syncprobe.comparing.OptionError, match="Compare two saved profiles"):
        comparing.compare("baseline", "step1", options)


def test_two_variants_are_timed_recorded_and_verified():
    comparison = syncprobe.compare(
        "baseline",
        "optimized",
        agent="DQN",
        robots=2,
        cores=0,
        obstacles=1,
        steps=4,
        warmup=4,
        rounds=2,
        verify_steps=12,
    )
    assert comparison.verdict is not None
    assert comparison.verdict.is_equivalent is True, comparison.verdict.differences
    assert comparison.verdict.summary.startswith("identical (fast mode, 12 steps, bit for bit)")
    assert comparison.speedup is not None
    assert comparison.speedup.ratio.rounds == 2
    assert comparison.before.digest == comparison.after.digest
    assert not comparison.before.digest.is_perturbed
    rates = {change.name: change for change in comparison.rates}
    assert rates["syncs"].before > rates["syncs"].after
    assert comparison.before.time.measured_ms_per_step is not None
    assert comparison.appeared
    assert comparison.disappeared
