"""Modules as targets, and arguments for every kind of program."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from syncprobe.cli import main
from syncprobe.errors import SyncprobeError
from syncprobe.targets import TargetOptions, find_target

TRAIN = """
import sys
import torch
from .rates import RATE

def step():
    return torch.ones(3, device="cuda").sum().item() * RATE

def start():
    print("started", sys.argv[1:])

if __name__ == "__main__":
    print(sys.argv[1:], Path(sys.argv[0]).name, step())
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project" / "jobs"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "rates.py").write_text("RATE = 2\n")
    (folder / "train.py").write_text("from pathlib import Path" + TRAIN)
    monkeypatch.chdir(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "project"]:
        del sys.modules[name]


@pytest.mark.usefixtures("package")
def test_a_module_runs_as_python_would_run_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = list(sys.argv), list(sys.path)
    arguments = ["profile", "-m", "project.jobs.train", "-o", "p.json", "--", "--lr", "3"]
    assert main(arguments) == 0
    assert "['--lr', '3'] train.py 6.0" in capsys.readouterr().out
    assert (sys.argv, sys.path) == before
    profile = json.loads((tmp_path / "p.json").read_text())
    assert profile["run"]["target"] == "-m project.jobs.train"
    assert profile["run"]["command"] == "syncprobe profile -m project.jobs.train -- --lr 3"
    assert {site["path"] for site in profile["sites"]} == {"project/jobs/train.py"}


def test_a_package_runs_its_main_module(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (package / "__main__.py").write_text("print('main of', __package__)\n")
    outcome = find_target("-m project.jobs", TargetOptions()).execute("cpu")
    assert outcome.exit_code == 0
    assert capsys.readouterr().out == "main of project.jobs\n"


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("module", ["project.jobs", "project.jobs.missing", "nowhere.at.all"])
def test_a_module_that_cannot_be_run_is_refused(module: str) -> None:
    with pytest.raises(SyncprobeError, match=f"no module '{module}' to run"):
        find_target(f"-m {module}", TargetOptions())


@pytest.mark.parametrize("words", [[], ["train", "-m", "project.jobs"]])
def test_one_thing_is_profiled(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", *words]) == 2
    assert "Name one thing to profile" in capsys.readouterr().err


@pytest.mark.usefixtures("package")
def test_a_function_finds_its_arguments_on_the_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = TargetOptions(arguments=("--lr", "3"))
    find_target("project.jobs.train:start", options).execute("cpu")
    assert capsys.readouterr().out == "started ['--lr', '3']\n"
