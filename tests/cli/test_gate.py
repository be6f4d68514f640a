"""``syncprobe gate``: budgets held by real runs of a small script, and by saved profiles."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import syncprobe
from syncprobe.budgets import gating, runs
from syncprobe.budgets.judgement import Unjudged
from syncprobe.budgets.runs import RunEvidence
from syncprobe.budgets.update import update_of
from syncprobe.cli import main
from syncprobe.comparison.ratio import Ratio, Speedup
from syncprobe.config import Settings
from syncprobe.profiles import storage
from syncprobe.profiles.model import Digest
from tests.rendering import factories

SCRIPT = """\
import sys

import syncprobe
import torch


def act(weights):
    return (weights * 2).sum().item()


weights = torch.ones(3, device="cuda")
for _ in range(4):
    with syncprobe.step(), syncprobe.region("act"):
        print("acting", act(weights), sys.argv[1:])
"""
BUDGET = """\
[tool.syncprobe.budget.loop]
target = "loop.py"
arguments = ["--fast"]
device = "sim"
syncs = 1
max_regression = 0
against = "reports/loop.json"
[tool.syncprobe.budget.loop.region.act]
launches = 2
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project whose budget holds and whose committed profile was made by ``--update``."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "loop.py").write_text(SCRIPT)
    (folder / "pyproject.toml").write_text(BUDGET)
    assert main(["gate", "--update", "--config", str(folder / "pyproject.toml")]) == 0
    return folder


@pytest.fixture
def work(project, monkeypatch):
    """Inside a folder of the project, with its script as it was afterwards."""
    inner = project / "inner"
    inner.mkdir(exist_ok=True)
    monkeypatch.chdir(inner)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    yield project
    (project / "loop.py").write_text(SCRIPT)


@pytest.mark.slow  # a process for each program
def test_update_writes_what_a_gate_compares_with(work, capfd):
    committed = syncprobe.load(work / "reports" / "loop.json")
    assert (committed.run.steps, committed.run.command) == (4, "syncprobe gate --update loop")
    assert committed.per_step["syncs"] == 1
    before = (work / "reports" / "loop.json").read_bytes()
    assert main(["gate", "--update", "loop"]) == 0
    shown = capfd.readouterr()
    assert "gate --update: 0 of 1 profile written" in shown.out
    assert "acting" not in shown.out, "what the program prints is not the result"
    assert "acting 6.0 ['--fast']" in shown.err
    assert (work / "reports" / "loop.json").read_bytes() == before


def test_what_is_said_about_the_machine_is_no_reason_to_write():
    before = factories.profile()
    busy = replace(before, run=replace(before.run, notes=("The machine was busy.",)))
    assert not update_of("loop", "loop.json", before, busy).is_written


@pytest.mark.slow  # a process for each program
def test_a_read_that_the_source_excuses_does_not_count(work, capfd):
    # Reading is all that the line does, so there is nothing else to count.
    read = "    weights[0].item()  # syncprobe: allow[SP102] the log wants it\n    return"
    (work / "loop.py").write_text(SCRIPT.replace("    return", read))
    assert main(["gate", "--json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert data["holds"] is True
    (budget,) = data["budgets"]
    assert [reading["value"] for reading in budget["readings"][:2]] == [1.0, 2.0]
    assert [(share["path"], share["line"]) for share in budget["excused"]] == [("loop.py", 8)]


def test_an_added_read_fails_and_is_named_everywhere(work, capfd, monkeypatch, tmp_path):
    # The comment gives no reason, so it excuses nothing.
    read = "    weights.max().item()  # syncprobe: allow[SP102]\n    return"
    (work / "loop.py").write_text(SCRIPT.replace("    return", read))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (tmp_path / "summary.md").write_text("before\n")
    assert main(["gate", "--sarif", str(tmp_path / "gate.sarif")]) == 1
    shown = capfd.readouterr().out
    assert "FAIL loop" in shown
    assert "syncs: 2 per step, at most 1 allowed" in shown
    assert "loop.py:8 act: scalar_read aten::_local_scalar_dense, 1 per step, new [SP102]" in shown
    assert "The allow comment here gives no reason, so it excuses nothing." in " ".join(
        shown.split()
    )
    assert "::error file=loop.py,line=8,title=syncprobe budget loop::syncs: 2 per step" in shown
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("before\n## syncprobe: gate: 0 of 1 budget holds, 1 failed")
    results = json.loads((tmp_path / "gate.sarif").read_text())["runs"][0]["results"]
    assert "SP102" in {each["ruleId"] for each in results}
    places = [each["locations"][0]["physicalLocation"] for each in results]
    assert {place["region"]["startLine"] for place in places} == {8}


@pytest.mark.slow  # a process for each program
def test_a_program_that_fails_cannot_be_judged(work, capfd):
    (work / "loop.py").write_text(SCRIPT + "raise ValueError('gone')\n")
    assert main(["gate"]) == 2
    shown = capfd.readouterr()
    assert "gate: 0 of 1 budget holds, 1 could not be judged" in shown.out
    assert "loop could not be judged: INCOMPLETE" in shown.err
    assert "ValueError: gone" in shown.err


@pytest.mark.slow  # a process for each program
def test_nothing_is_written_if_a_program_takes_its_process_with_it(work, capfd):
    before = (work / "reports" / "loop.json").read_bytes()
    (work / "loop.py").write_text("import os\nos._exit(3)\n")
    assert main(["gate", "--update"]) == 2
    assert capfd.readouterr().err.endswith(
        "syncprobe: Nothing was written, because of loop: "
        "The process that ran loop.py ended without an answer.\n"
    )
    assert (work / "reports" / "loop.json").read_bytes() == before


TRAIN = """\
[tool.syncprobe.budget.base]
target = "train"
warmup = 32
syncs = 20.25
[tool.syncprobe.budget.tight]
target = "train"
warmup = 32
syncs = 1
[tool.syncprobe.budget.patched]
target = "train"
warmup = 32
patches = "all"
min_speedup = 4
syncs = 99
"""


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """A project with budgets for training, and saved profiles of it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (tmp_path / "pyproject.toml").write_text(TRAIN)
    factories.profile().save("base.json")
    factories.profile(run=factories.run(patches=(1, 2, 3, 4, 5))).save("patched.json")
    return tmp_path


def test_a_saved_profile_is_held_to_all_budgets_about_such_a_run(trained, capsys):
    assert main(["gate", "base.json", "--summary", "s.md"]) == 1
    shown = capsys.readouterr().out
    assert "gate: 1 of 2 budgets hold, 1 failed" in shown
    assert "ok base" in shown
    assert "FAIL tight" in shown
    assert "| `tight` | syncs | 20.25 | 1 | FAIL |" in (trained / "s.md").read_text()


def test_a_saved_profile_has_no_speed(trained, capsys):
    assert main(["gate", "patched.json"]) == 0
    assert "not measured" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "start"),
    [("g.sarif", "{"), ("g.json", "{"), ("g.md", "## syncprobe"), ("g.txt", "syncprobe: gate")],
)
def test_the_name_of_the_file_says_the_format(name, start, trained, capsys):
    assert main(["gate", "base.json", "-o", name]) == 1
    assert (trained / name).read_text(encoding="utf-8").startswith(start)
    assert "FAIL tight" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["-o", "--sarif", "--summary"])
def test_a_place_that_cannot_hold_the_result_is_refused_before_the_run(
    option, measured, trained, capsys
):
    (trained / "file").write_text("x")
    assert main(["gate", "base", option, "file/x.md"]) == 2
    assert measured["asked"] == []
    assert "Nothing can be written to" in capsys.readouterr().err


def test_a_region_that_does_not_occur_cannot_be_judged(trained, capsys):
    with (trained / "pyproject.toml").open("a") as stream:
        stream.write("[tool.syncprobe.budget.base.region.actt]\nsyncs = 0\n")
    text = (trained / "pyproject.toml").read_text().replace("syncs = 1\n", "syncs = 99\n")
    (trained / "pyproject.toml").write_text(text)
    assert main(["gate", "base.json"]) == 2
    shown = capsys.readouterr()
    assert "base could not be judged: The run has no region 'actt'" in shown.err
    assert "Did you mean 'act'?" in shown.err
    assert "ok tight" in shown.out


def test_a_profile_that_no_budget_is_about_is_refused(trained, capsys):
    factories.profile(run=factories.run(agent="SAC", seed=3)).save("other.json")
    assert main(["gate", "other.json"]) == 2
    shown = capsys.readouterr().err
    assert "No budget is about other.json (train, SAC" in shown
    assert "The nearest, 'base', differs in agent, seed." in shown


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"run": factories.run(is_complete=False, interruption="raised X")}, "INCOMPLETE"),
        ({"digest": Digest(actions="a", rewards="b", is_perturbed=True)}, "PERTURBED"),
    ],
)
def test_a_profile_that_cannot_be_trusted_is_not_judged(trained, capsys, fields, reason):
    factories.profile(**fields).save("doubtful.json")
    assert main(["gate", "doubtful.json"]) == 2
    assert f"tight could not be judged: {reason}" in capsys.readouterr().err


def test_the_committed_profile_must_be_of_the_same_run(trained, capsys):
    with (trained / "pyproject.toml").open("a") as stream:
        stream.write(TRAIN.replace("base", "seeded").partition("[tool.syncprobe.budget.tight]")[0])
        stream.write("against = 'old.json'\n")
    factories.profile(run=factories.run(seed=1)).save("old.json")
    assert main(["gate", "base.json"]) == 1
    assert (
        "seeded could not be judged: old.json is of another run (seed 1 and 0). Make it again: "
        in (capsys.readouterr().err)
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bas"], "No budget is called 'bas'. Did you mean 'base'?"),
        (["nosuch.json"], "There is no file nosuch.json"),
        (["--config", "nosuch.toml"], "There is no file nosuch.toml"),
        (["--update"], "No budget compares with a profile. Add max_regression"),
        (["--update", "base"], "Budget 'base' compares with no profile."),
        (["--update", "base.json"], "Profiles are only read, so base.json cannot be updated"),
        (["--update", "nosuch"], "No budget is called 'nosuch'"),
        (["--update", "--sarif", "x"], "--update judges nothing, so there is nothing for --sarif."),
        (["--jobs", "0"], "at least 1, not '0'"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(trained, capsys, words, message):
    assert main(["gate", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err
    assert shown.err.count("\n") == 1


def test_a_missing_committed_profile_says_how_to_make_it(trained, capsys):
    (trained / "pyproject.toml").write_text(BUDGET)
    assert main(["gate"]) == 2
    assert "Make it: syncprobe gate --update loop" in capsys.readouterr().err


def test_no_budgets_is_an_invitation(trained, capsys):
    (trained / "pyproject.toml").write_text("")
    assert main(["gate"]) == 2
    assert "Write one: [tool.syncprobe.budget.train] with target" in capsys.readouterr().err


@pytest.fixture
def measured(trained, monkeypatch):
    """Stands in for the runs: answers with what a test has put there."""
    answers = {"base": factories.profile(), "tight": factories.profile()}
    asked = []

    def collect(runs, options):
        asked.append((runs, options))
        return [answers[run.budget.name] for run in runs]

    monkeypatch.setattr("syncprobe.budgets.gating.collect", collect)
    for name, profile in answers.items():
        answers[name] = RunEvidence(profile=profile, allowed=None)
    answers["asked"] = asked
    return answers


def test_failing_wins_over_not_being_judged(measured, capsys):
    measured["base"] = Unjudged(budget="base", reason="gone")
    assert main(["gate", "base", "tight"]) == 1
    shown = capsys.readouterr()
    assert "gate: 0 of 2 budgets hold, 1 failed, 1 could not be judged" in shown.out
    assert "base could not be judged: gone" in shown.err


def test_holding_does_not_hide_what_could_not_be_judged(measured):
    measured["tight"] = Unjudged(budget="tight", reason="gone")
    assert main(["gate", "base", "tight"]) == 2


@pytest.mark.parametrize(
    ("low", "high", "code", "words"),
    [
        (4.5, 6.0, 0, "5.00x     4x  ok"),
        (2.0, 3.0, 1, "speedup over baseline, measured: 5.00x (95% interval 2.00x to 3.00x, 80"),
        (3.6, 4.4, 1, "inconclusive: 3.60x to 4.40x around 4x after 80 rounds"),
    ],
)
def test_speed_is_decided_or_said_to_be_open(measured, capsys, low, high, code, words):
    ratio = Ratio(median=5.0, low=low, high=high, rounds=80)
    profile = replace(factories.profile(), run=factories.run(patches=(1, 2, 3, 4, 5)))
    measured["patched"] = RunEvidence(
        profile=profile,
        allowed=None,
        speedup=Speedup(before_ms=5.0, after_ms=1.0, ratio=ratio),
    )
    assert main(["gate", "patched"]) == code
    assert words in capsys.readouterr().out


def test_settings_and_jobs_reach_the_runs(measured, trained, monkeypatch):
    monkeypatch.setenv("SYNCPROBE_GPU", "a100")
    main(["gate", "base", "--jobs", "3"])
    ((runs, options),) = measured["asked"]
    assert [run.budget.name for run in runs] == ["base"]
    assert (options.settings.gpu, options.jobs) == ("a100", 3)


def test_the_library_does_the_same(trained):
    result = syncprobe.gate(factories.profile(), config="pyproject.toml")
    assert [judgement.budget.name for judgement in result.failed] == ["tight"]
    assert not result.holds
    assert result.failed[0].breaches[0].lines[0].site.line == 38


def test_variants_are_timed_in_turns_and_recorded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(
        "[tool.syncprobe.budget.fast]\ntarget = 'train'\nagent = 'DQN'\nrobots = 2\ncores = 0\n"
        "obstacles = 1\nsteps = 4\nwarmup = 4\npatches = 'all'\ndevice = 'sim'\nsyncs = 1\n"
        "min_speedup = 0.01\n"
    )
    run = gating.load_budgets()["fast"]
    evidence = runs.measure(run, Settings())
    assert isinstance(evidence, RunEvidence), evidence
    assert evidence.speedup.ratio.rounds == 5
    assert evidence.profile.time.measured_ms_per_step is not None, "the timed passes are kept"
    assert not evidence.profile.digest.is_perturbed
    assert storage.loads(storage.dumps(evidence.profile)) == evidence.profile
