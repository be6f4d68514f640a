"""``syncprobe fix`` from end to end, in copies of a project."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from syncprobe.cli import main

PROGRAM = """\
import torch

import helper

torch.manual_seed(0)
weight = torch.nn.Parameter(torch.ones(4, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(3):
    loss = (weight**2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, helper.largest(weight.detach()))
open("log.txt", "a").write("done\\n")
"""
HELPER = """\
def largest(row):
    return max(t.item() for t in row)  # of all
"""


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "helper.py").write_text(HELPER)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow  # processes that import torch; tests/fixing proves fixes every day
def test_a_fix_is_found_proven_and_applied(project: Path, capsys) -> None:
    assert main(["fix", "train.py", "--apply", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [each["remedy"] for each in result["kept"]] == ["element-reads"]
    assert result["kept"][0]["before"]["syncs"] == 12
    assert result["kept"][0]["after"]["syncs"] == 3
    assert "3 steps" in result["proof"]
    assert "1 file" in result["proof"]
    assert (project / "helper.py").read_text() == HELPER.replace(
        "t.item() for t in row", "row.tolist()"
    )
    # The program ran in copies: what it writes is not here.
    assert git(project, "status", "--porcelain") == " M helper.py\n"


@pytest.mark.slow  # each run of the program imports torch
def test_what_python_is_told_to_search_is_searched(
    project: Path, capsys, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "helper.py").write_text(HELPER)
    (project / "helper.py").unlink()
    monkeypatch.setenv("PYTHONPATH", str(elsewhere))
    assert main(["fix", "train.py"]) == 0
    assert "Nothing to fix" in capsys.readouterr().out, "it ran, and is not the project's own file"


def refused(capsys, *words: str) -> str:
    assert main(["fix", *words]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    return lines[-1]


@pytest.mark.slow
def test_a_program_that_fails_is_refused_and_nothing_is_touched(project: Path, capsys) -> None:
    (project / "train.py").write_text("import torch\ninput('which one? ')\n")
    answer = refused(capsys, "train.py")
    assert "does not run to its end as it is: it raised EOFError" in answer
    assert "it asks for input, which nobody can give it here. Nothing was changed." in answer
    assert git(project, "status", "--porcelain") == " M train.py\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.py"], "There is no script nowhere.py"),
        (["train"], "built in"),
        (["train.py", "--rule", "SP11"], "No rule is called 'SP11'"),
        (["train.py", "--path", "other"], "--path matches no Python file"),
        (["train.py", "--apply", "--check"], "cannot go with --apply"),
        ([], "Name one thing to fix"),
    ],
)
def test_bad_input_is_one_clear_line(project: Path, capsys, words, message) -> None:
    assert message in refused(capsys, *words)


def test_missing_libcst_is_said(project: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert "needs libcst: pip install 'syncprobe[fix]'" in refused(capsys, "train.py")


@pytest.mark.slow
def test_a_program_that_is_random_by_the_clock_is_refused(project: Path, capsys) -> None:
    seeded = "torch.manual_seed(__import__('time').time_ns() % 2**31)"
    text = PROGRAM.replace("torch.manual_seed(0)", seeded).replace("torch.ones(4", "torch.rand(4")
    (project / "train.py").write_text(text)
    assert "train.py is not deterministic" in refused(capsys, "train.py")


@pytest.mark.slow
def test_check_says_whether_there_is_something_to_fix(project: Path, capsys) -> None:
    assert main(["fix", "train.py", "--check"]) == 1
    shown = capsys.readouterr().out
    assert "-    return max(t.item() for t in row)  # of all" in shown
    assert "syncs 12 -> 3" in shown
    assert git(project, "status", "--porcelain") == ""
    assert main(["fix", "train.py", "--check", "--rule", "SP301"]) == 0
