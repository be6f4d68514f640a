"""``syncprobe compare``: what is asked of the library, what is shown, how it ends."""

from __future__ import annotations

import json

import pytest

import syncprobe
from syncprobe import files as writing
from syncprobe.cli import main
from syncprobe.comparison import variants
from syncprobe.comparison.side_by_side import compare as side_by_side
from syncprobe.comparison.variant_runs import CompareOptions
from syncprobe.equivalence.verdict import Verdict
from syncprobe.errors import SyncprobeError
from syncprobe.profiles.model import Digest
from syncprobe.targets import TargetOptions, running
from syncprobe.targets.base import OptionError
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


def test_a_format_that_comparisons_have_not_is_refused_before_anything(files, asked, capsys):
    assert main(["compare", "a.json", "b.json", "-o", "c.sarif"]) == 2
    assert "options" not in asked
    assert "There is no .sarif file of this. Choose from: .html, .json, .md, .txt." in (
        capsys.readouterr().err
    )


def test_a_dash_prints_the_comparison_once(files, tmp_path, capsys):
    assert main(["compare", "a.json", "b.json", "-o", "-"]) == 0
    assert capsys.readouterr().out.count("AC-IQN baseline and AC-IQN step1") == 1
    assert not (tmp_path / "-").exists()


def test_a_file_that_cannot_be_written_costs_nobody_the_comparison(files, monkeypatch, capsys):
    def fail(path, text):
        raise SyncprobeError(f"Could not write {path}: no space left.")

    monkeypatch.setattr(writing, "write_text", fail)
    assert main(["compare", "a.json", "b.json", "-o", "c.md"]) == 2
    shown = capsys.readouterr()
    assert "Equivalence: identical" in shown.out
    assert shown.err.endswith("Could not write c.md: no space left.\n")


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

    monkeypatch.setattr("syncprobe.cli.commands.compare.compare", compare)
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
        "syncprobe compare baseline step3 --target torchrl --steps 7 --warmup 3 --agent SAC "
        "--robots 2 --cores 1 --obstacles 0 --seed 9 --device sim --gpu a100 --mode exact"
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
    options = CompareOptions(name="script.py")
    with pytest.raises(OptionError, match="Compare two saved profiles"):
        variants.compare("baseline", "step1", options)


LOOP = """
import sys
import torch
import syncprobe
{comment}
device = "cuda" if torch.cuda.is_available() else "cpu"
values = torch.ones(8, device=device)
total = 0.0
for _ in range(12):
    syncprobe.step()
    values = values * 1.0
    for place in range({reads}):
        total += values[place % 8].item()
print("total", total, sys.argv[1:])
"""


@pytest.fixture
def scripts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "many.py").write_text(LOOP.format(comment="", reads=40))
    (tmp_path / "few.py").write_text(LOOP.format(comment="# two\n# lines", reads=6))


@pytest.mark.slow  # four processes
def test_two_scripts_are_timed_recorded_and_compared(scripts, capfd):
    words = ["compare", "many.py", "few.py", "--rounds", "2", "--json", "--", "--deep"]
    assert main(words) == 0
    shown = capfd.readouterr()
    data = json.loads(shown.out)
    assert shown.err.count("total 480.0 ['--deep']") == 1, "only the recorded pass is shown"
    assert data["per_step"]["scalar_read"] == {"before": 40.0, "after": 6.0, "factor": 40 / 6}
    assert data["time"]["modelled_ms_per_step"]["factor"] > 2
    assert data["speedup"]["ratio"]["rounds"] == 2
    assert data["verdict"]["equivalent"] is None
    assert data["verdict"]["summary"].startswith("not comparable because the first program reaches")
    assert data["appeared"] == []
    assert data["disappeared"] == []
    assert data["after"]["run"]["command"].endswith("compare many.py few.py -- --deep")


@pytest.mark.slow  # four processes
def test_scripts_that_need_a_gpu_are_compared_without_a_ratio(scripts, tmp_path, capsys):
    for name in ("many.py", "few.py"):
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(text.replace("if torch.cuda.is_available() else", "or"))
    assert main(["compare", "many.py", "few.py", "--rounds", "1"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("syncprobe: many.py and few.py")
    assert "total" not in out, "what the scripts print is not the result"
    assert "so no ratio is given" in out
    assert "faster" in out


@pytest.mark.slow  # processes that import torch
def test_a_script_is_held_against_the_profile_of_another(scripts, capsys):
    assert main(["profile", "many.py", "-o", "many.json"]) == 0
    assert main(["compare", "many.json", "few.py", "--full"]) == 0
    out = capsys.readouterr().out
    assert "scalar read" in out
    assert "Sites that are gone: 0 lines" in out


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["many.py", "baseline"], "many.py is no variant of the trainer"),
        (["many.py", "missing.py"], "'missing.py'"),
        (["baseline", "step1", "--", "--deep"], "Neither side is a script"),
    ],
)
def test_scripts_that_cannot_be_compared_are_refused(words, reason, scripts, capsys):
    assert main(["compare", *words]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.slow  # four processes
def test_scripts_with_modules_of_the_same_name_beside_them_are_kept_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder, reads in (("one", 1), ("other", 3)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "model.py").write_text(f"READS = {reads}")
        (tmp_path / folder / "train.py").write_text(
            "import model, torch\nx = torch.ones(2, device='cuda')\n"
            "for _ in range(model.READS):\n    x.sum().item()\nopen('written.txt', 'w').write('x')\n"
        )
    comparison = syncprobe.compare("one/train.py", "other/train.py", rounds=1)
    assert comparison.before.counts["scalar_read"] == 1
    assert comparison.after.counts["scalar_read"] == 3
    assert not list(tmp_path.rglob("written.txt")), "each run has a copy of its own"


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
