"""``--own``: lines of libraries are shown beneath the line of one's own project that reached them."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from syncprobe.cli import main

LIBRARY = """
    import torch

    def report(values):
        return [value.item() for value in values]

    def fit(step):
        for _ in range(4):
            report([step()])
"""
PROGRAM = """
    import os, sys

    sys.path.insert(0, os.path.abspath("framework"))
    import torch
    import trainer

    def step():
        loss = torch.ones(3, device="cuda").sum()
        trainer.report([loss, loss])
        return loss

    trainer.fit(step)
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A program in one folder, the library that it calls in another."""
    for name, text in {"framework/trainer.py": LIBRARY, "app/train.py": PROGRAM}.items():
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text(textwrap.dedent(text).lstrip())
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "trainer", raising=False)
    return tmp_path


def _profile(*more: str) -> int:
    return main(["profile", "app/train.py", "--device", "sim", "-o", "run.json", *more])


def _own(path: str = "run.json") -> dict[tuple[str, int], dict[tuple[str, int], float]]:
    """The lines behind each read, and how often each of them read."""
    sites = json.loads(Path(path).read_text())["sites"]
    return {
        (site["path"], site["line"]): {
            (own["site"]["path"], own["site"]["line"]): own["count"] for own in site["own"]
        }
        for site in sites
        if site["kind"] == "scalar_read"
    }


def test_a_library_line_is_rolled_up_to_the_innermost_line_in_the_folder_of_the_target(project):
    assert _profile() == 0
    assert _own() == {
        ("framework/trainer.py", 4): {("app/train.py", 9): 8, ("app/train.py", 12): 4}
    }


def test_the_first_screen_names_the_own_line_first_and_the_library_line_beneath(project, capsys):
    assert _profile() == 0
    shown = capsys.readouterr().out.splitlines()
    own = next(place for place, text in enumerate(shown) if "app/train.py:9 " in text)
    assert "8 scalar_read" in shown[own]
    assert "in framework/trainer.py:4 " in shown[own + 1]
    assert "us of it: 8 scalar_read" in shown[own + 1]
    assert any("app/train.py:9 (in framework/trainer.py:4)" in text for text in shown)


@pytest.mark.parametrize("own", [".", "framework", "framework/trainer.py"])
def test_what_is_ones_own_can_be_said(own, project):
    assert _profile("--own", own) == 0
    assert _own() == {("framework/trainer.py", 4): {}}


def test_a_report_can_be_made_for_other_owners(project, capsys):
    assert _profile("--own", ".") == 0
    assert main(["report", "run.json", "--own", "app", "-o", "other.json"]) == 0
    assert _own("other.json") == {
        ("framework/trainer.py", 4): {("app/train.py", 9): 8, ("app/train.py", 12): 4}
    }
    for name in ("md", "html", "console"):
        assert main(["report", "run.json", "--own", "app", "--format", name, "--full"]) == 0
        shown = capsys.readouterr().out
        assert "in framework/trainer.py:4" in shown or "in framework/trainer.py&#58;4" in shown


@pytest.mark.parametrize("command", [("profile", "app/train.py"), ("report", "run.json")])
def test_an_own_folder_that_is_not_there_is_one_line(command, project, capsys):
    assert _profile() == 0
    capsys.readouterr()
    assert main([*command, "--own", "nowhere"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "syncprobe: --own names 'nowhere', which is not there. Give a folder or a file."
    ]


def test_a_report_for_somebody_who_has_no_line_in_it_is_refused(project, capsys):
    assert _profile() == 0
    (project / "other").mkdir()
    assert main(["report", "run.json", "--own", "other"]) == 2
    assert "No line of the profile is in 'other'" in capsys.readouterr().err
