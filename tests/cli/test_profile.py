"""``syncprobe profile``: what is asked of the library, where the profile goes, how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from syncprobe import files
from syncprobe.cli import main
from syncprobe.cli.commands.profile import default_name
from syncprobe.config import Settings
from syncprobe.errors import SyncprobeError
from syncprobe.profiles import storage
from syncprobe.profiles.model import Digest
from syncprobe.rendering.html import page as templates
from syncprobe.targets import running
from tests.rendering import factories


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Stands in for the run itself: remembers what was asked and answers with a small profile."""
    monkeypatch.chdir(tmp_path)
    calls = []

    def answer(target, options):
        calls.append((target, options))
        options.progress("recording on sim", 0, 42)
        options.progress("recording on sim", 1, 42)
        print("the program's own words")
        return factories.profile()

    monkeypatch.setattr(running, "run", answer)
    return calls


def test_options_reach_the_run(asked):
    words = (
        "profile train --steps 7 --warmup 3 --agent SAC --robots 2 --cores 1 --obstacles 0 --seed 9"
    )
    words += " --patches 1-3 --mode exact --device sim --gpu a100 --timed --lines --sample x.svg"
    assert main(words.split()) == 0
    target, options = asked[0]
    assert target == "train"
    assert replace(options, progress=None) == running.RunOptions(
        target=running.TargetOptions(
            agent="SAC",
            robots=2,
            cores=1,
            obstacles=0,
            seed=9,
            steps=7,
            warmup=3,
            patches=(1, 2, 3),
            mode="exact",
        ),
        device="sim",
        gpu="a100",
        is_timed=True,
        has_lines=True,
        sample=Path("x.svg"),
        command="syncprobe profile train --steps 7 --warmup 3 --agent SAC --robots 2 --cores 1 "
        "--obstacles 0 --seed 9 --patches 1-3 --device sim --gpu a100 --mode exact --timed --lines",
    )


def test_without_options_the_target_decides(asked):
    assert main(["profile", "x.py", "--", "--lr", "3", "--json", "--help"]) == 0
    _, options = asked[0]
    assert options.target == running.TargetOptions(arguments=("--lr", "3", "--json", "--help"))
    assert (options.device, options.gpu, options.is_timed) == ("auto", "t4", None)
    assert options.command == "syncprobe profile x.py -- --lr 3 --json --help"


def test_settings_come_from_the_project_and_the_environment(asked, tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text('[tool.syncprobe]\ngpu = "v100"\nreports = "out"\n')
    monkeypatch.setenv("SYNCPROBE_DEVICE", "cpu")
    assert main(["profile", "train"]) == 0
    _, options = asked[0]
    assert (options.gpu, options.device) == ("v100", "cpu")
    assert (tmp_path / "out" / "train-ac-iqn-baseline-sim-seed0.json").is_file()


def test_the_profile_is_kept_under_a_readable_name_and_shown(asked, tmp_path, capsys):
    assert main(["profile", "train"]) == 0
    path = tmp_path / "reports" / "train-ac-iqn-baseline-sim-seed0.json"
    assert storage.load(path) == factories.profile()
    shown = capsys.readouterr()
    assert "Is the GPU the problem?" in shown.out
    assert "the program's own words" in shown.out
    assert "Profile written to reports/train-ac-iqn-baseline-sim-seed0.json" in shown.err
    assert "syncprobe: recording on sim: 0 of 42 steps\n" in shown.err


def test_json_leaves_nothing_else_on_standard_output(asked, capsys):
    assert main(["profile", "train", "--json", "-o", "mine.json"]) == 0
    shown = capsys.readouterr()
    assert storage.loads(shown.out) == factories.profile()
    assert "the program's own words" in shown.err


@pytest.mark.parametrize("place", [".", "file/x.json"])
@pytest.mark.parametrize("option", ["-o", "--html"])
def test_a_place_that_cannot_hold_the_profile_is_refused_before_the_run(
    option, place, asked, tmp_path, capsys
):
    (tmp_path / "file").write_text("x")
    assert main(["profile", "train", option, place]) == 2
    assert asked == []
    assert capsys.readouterr().err.count("\n") == 1


def test_a_page_is_written_beside_the_profile(asked, tmp_path, capsys):
    assert main(["profile", "train", "--html", "page.html", "-o", "mine.json"]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "train, AC-IQN, 5 robots, baseline" in page
    assert "Page written to page.html." in capsys.readouterr().err
    _, options = asked[0]
    assert "--html" not in options.command


def test_a_page_that_cannot_be_made_is_refused_before_the_run(asked, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    templates._environment.cache_clear()
    assert main(["profile", "train", "--html", "page.html"]) == 2
    templates._environment.cache_clear()
    assert asked == []
    assert "pip install 'syncprobe[report]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("r.html", "<!DOCTYPE html>"),
        ("r.md", "## syncprobe"),
        ("r.sarif", "{"),
        ("r.txt", "syncprobe: train"),
    ],
)
def test_a_report_in_the_format_of_its_name_goes_beside_the_profile(name, start, asked, tmp_path):
    assert main(["profile", "train", "-o", name]) == 0
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    kept = tmp_path / "reports" / "train-ac-iqn-baseline-sim-seed0.json"
    assert storage.load(kept) == factories.profile()


def test_a_dash_is_standard_output(asked, tmp_path, capsys):
    assert main(["profile", "train", "-o", "-"]) == 0
    shown = capsys.readouterr()
    assert storage.loads(shown.out) == factories.profile()
    assert "the program's own words" in shown.err
    assert not (tmp_path / "reports").exists()
    assert not (tmp_path / "-").exists()


def test_a_file_that_cannot_be_written_costs_nobody_the_report(
    asked, monkeypatch, tmp_path, capsys
):
    def fail(path, text):
        raise SyncprobeError(f"Could not write {path}: no space left.")

    monkeypatch.setattr(files, "write_text", fail)
    assert main(["profile", "train", "-o", "mine.json", "--html", "page.html"]) == 2
    shown = capsys.readouterr()
    assert "Is the GPU the problem?" in shown.out
    assert shown.err.endswith("syncprobe: Could not write mine.json: no space left.\n")


def test_a_folder_for_reports_that_cannot_be_made_is_refused_before_the_run(
    asked, tmp_path, capsys
):
    (tmp_path / "reports").write_text("a file")
    assert main(["profile", "train"]) == 2
    assert asked == []
    assert "Nothing can be written to" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--epochs", "1"], ["--epochs=1"], ["--steps", "2", "--epochs", "1"]]
)
def test_options_of_the_program_belong_after_two_dashes(words, asked, capsys):
    assert main(["profile", "train.py", *words]) == 2
    shown = capsys.readouterr().err
    assert "does not know '--epochs" in shown
    assert "If it is for the program, put it after '--': " in shown
    assert " -- --epochs" in shown
    assert shown.count("\n") == 1


def test_the_hint_is_a_command_line_that_works(asked, capsys):
    assert main(["profile", "train.py", "--steps", "2", "--epochs", "1"]) == 2
    hint = capsys.readouterr().err.partition("put it after '--': syncprobe ")[2]
    assert main(hint.split()) == 0
    ((target, options),) = asked
    assert (target, options.target.steps) == ("train.py", 2)
    assert options.target.arguments == ("--epochs", "1")


def test_built_in_targets_are_told_of_no_dashes(asked, capsys):
    assert main(["profile", "train", "--epochs", "1"]) == 2
    assert "put it after" not in capsys.readouterr().err


def test_a_misspelt_option_of_ours_is_suggested_all_the_same(asked, capsys):
    assert main(["profile", "train.py", "--step", "1"]) == 2
    assert "Did you mean '--steps'?" in capsys.readouterr().err


def test_a_perturbed_run_is_announced(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    digest = Digest(actions="a", rewards="b", is_perturbed=True)
    monkeypatch.setattr(running, "run", lambda *_: factories.profile(digest=digest))
    assert main(["profile", "train", "--json"]) == 0
    assert "PERTURBED" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "train-ac-iqn-baseline-sim-seed0.json"),
        ({"patches": (1, 2, 3)}, "train-ac-iqn-step3-sim-seed0.json"),
        ({"patches": (1, 2, 3, 4, 5)}, "train-ac-iqn-optimized-sim-seed0.json"),
        ({"patches": (1, 4)}, "train-ac-iqn-steps-1-4-sim-seed0.json"),
        ({"agent": "SAC", "seed": 3, "robots": 20}, "train-sac-baseline-sim-seed3-robots20.json"),
        ({"device": "cpu", "gpu": "a100"}, "train-ac-iqn-baseline-cpu-seed0.json"),
        ({"gpu": "a100", "steps": 50}, "train-ac-iqn-baseline-sim-seed0-steps50-a100.json"),
    ],
)
def test_default_names_of_training_runs(changes, name):
    assert default_name(factories.run(**changes), Settings()) == name


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("cartpole.py", "cartpole-sim.json"),
        ("examples/ppo/train.py", "examples-ppo-train-sim.json"),
        ("../../x y/Tränen.py", "x-y-tr-nen-sim.json"),
        ("package.module:main", "package.module-main-sim.json"),
        ("名.py", "sim.json"),
        ("a" * 500 + ".py", "a" * 196 + "-sim.json"),
    ],
)
def test_default_names_of_programs(target, name):
    run = factories.run(target=target, agent=None, seed=None, robots=None, steps=0)
    assert default_name(run, Settings()) == name


def test_exact_mode_is_named_where_it_matters():
    settings = Settings(mode="exact")
    assert default_name(factories.run(), settings) == "train-ac-iqn-baseline-sim-seed0.json"
    assert default_name(factories.run(patches=(1,)), settings).endswith(
        "-step1-sim-seed0-exact.json"
    )


SCRIPT = """
    import os, sys, time, torch
    device = "cuda"
    x = torch.ones(4, device=device)
    print("sum", x.sum().item(), flush=True)
    os.system("echo from a child")
    if "exit" in sys.argv: sys.exit(3)
    if "raise" in sys.argv: raise ValueError("boom")
    if "wait" in sys.argv: print("waiting", flush=True)
    while "wait" in sys.argv: time.sleep(1)
"""


@pytest.fixture
def script(tmp_path):
    (tmp_path / "small.py").write_text(textwrap.dedent(SCRIPT))

    def run(*words):
        command = [sys.executable, "-m", "syncprobe", "profile", "small.py", *words]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        return subprocess.Popen(
            command,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return run


@pytest.mark.parametrize(
    ("word", "code", "reason"),
    [
        pytest.param("", 0, None, marks=pytest.mark.slow),
        pytest.param("exit", 3, "exited with status 3", marks=pytest.mark.slow),
        ("raise", 1, "raised ValueError: boom"),
    ],
)
def test_the_exit_status_of_the_script_is_kept_and_so_is_its_profile(
    word, code, reason, script, tmp_path
):
    process = script("--device", "sim", "--", word)
    out, err = process.communicate(timeout=600)
    assert process.returncode == code, err
    path = tmp_path / "reports" / "small-sim.json"
    schema = resources.files("syncprobe").joinpath("profile.schema.json").read_text()
    jsonschema.validate(json.loads(path.read_text()), json.loads(schema))
    profile = storage.load(path)
    assert profile.run.is_complete == (reason is None)
    assert profile.run.interruption == reason
    assert profile.counts["scalar_read"] == 1
    assert ("INCOMPLETE" in out) == (reason is not None)
    assert "Profile written to reports/small-sim.json" in err


@pytest.mark.slow  # a process that imports torch
def test_json_is_alone_on_standard_output_whatever_the_script_prints(script):
    out, err = script("--device", "sim", "--json").communicate(timeout=600)
    assert json.loads(out)["counts"]["scalar_read"] == 1
    assert "sum 4.0" in err
    assert "from a child" in err


def test_an_interrupted_script_leaves_its_profile_and_ends_with_130(script, tmp_path):
    process = script("--device", "sim", "--", "wait")
    while "waiting" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "INCOMPLETE" in out
    assert not storage.load(tmp_path / "reports" / "small-sim.json").run.is_complete
