"""A choice of steps is written the same way everywhere, and steps have one name each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import patches
from patches.errors import StepSpecError
from syncprobe import plan_steps
from syncprobe.budgets import project_file
from syncprobe.cli import main
from syncprobe.errors import SyncprobeError
from syncprobe.findings import PLAN_STEPS
from syncprobe.targets.base import OptionError, parse_patches

PAGE = Path(__file__).parents[1] / "docs" / "plan.md"

CHOICES = [
    ("none", ()),
    ("all", (1, 2, 3, 4, 5)),
    ("ALL", (1, 2, 3, 4, 5)),
    ("decide", (1,)),
    ("keep, 1-2", (1, 2, 4)),
    ("2", (2,)),
    ("1-3", (1, 2, 3)),
    ("1,4", (1, 4)),
    (" 4 , 1 - 2 ", (1, 2, 4)),
]
REFUSED = ["", "0", "6", "3-1", "1-", "a", "al", "1;2", "1-9", "-1", "1,,2", "decide-reuse"]


def budgeted(text: str, folder: Path) -> tuple[int, ...]:
    file = folder / "pyproject.toml"
    file.write_text(f"[tool.syncprobe.budget.x]\ntarget = 'train'\nsyncs = 1\npatches = '{text}'\n")
    return project_file.read_budgets(file)["x"].options.patches


@pytest.mark.parametrize(("text", "numbers"), CHOICES)
def test_a_choice_means_the_same_everywhere(
    text: str, numbers: tuple[int, ...], tmp_path: Path
) -> None:
    assert parse_patches(text) == numbers
    assert budgeted(text, tmp_path) == numbers
    with patches.applied(text) as applied:
        assert applied.settings.steps == numbers


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_choice_is_none_anywhere(text: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="steps go from 1 to 5"):
        parse_patches(text)
    with pytest.raises(SyncprobeError, match="steps go from 1 to 5"):
        budgeted(text, tmp_path)
    with pytest.raises(StepSpecError, match="steps go from 1 to 5"):
        patches.apply(text)


def test_a_misspelt_step_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "train", "--patches", "decid"]) == 2
    assert "Did you mean 'decide'?" in capsys.readouterr().err
    with pytest.raises(StepSpecError, match="Did you mean 'decide'"):
        patches.apply("decid")


def test_steps_are_called_the_same_in_code_findings_and_readme() -> None:
    steps = plan_steps.FIVE_STEPS
    assert [(step.number, step.name, step.title) for step in patches.PLAN] == [
        (step.number, step.name, step.title) for step in steps
    ]
    assert [title.lower() for title in PLAN_STEPS.values()] == [
        step.title.lower() for step in steps
    ]
    rows = re.findall(r"^\| (\d) (\w+) \|", PAGE.read_text(), re.MULTILINE)
    assert rows == [(str(step.number), step.name) for step in steps]
