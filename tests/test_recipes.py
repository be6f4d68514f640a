"""The recipes for pre-commit are valid, and what they run is there; so would a wrong one be seen."""

from __future__ import annotations

import shlex

import pytest
from pre_commit.clientlib import load_config, load_manifest

from tests.workflows import ROOT, check_command, check_commands, check_steps, check_syncprobe


def test_the_hook_for_other_projects_is_valid_and_runs_a_command() -> None:
    (hook,) = load_manifest(ROOT / ".pre-commit-hooks.yaml")
    assert hook["id"] == "syncprobe-gate"
    assert hook["language"] == "python"
    assert not hook["pass_filenames"]
    check_command(shlex.split(hook["entry"]))


def test_the_hooks_of_this_project_are_valid() -> None:
    assert load_config(ROOT / ".pre-commit-config.yaml")["repos"]


@pytest.mark.parametrize(
    "command", ["make nothing", "syncprobe nothing", "syncprobe gate --nothing", "README.md"]
)
def test_the_check_sees_what_is_not_there(command: str) -> None:
    with pytest.raises(Exception, match=r"nothing|returned non-zero|cannot be run"):
        check_commands(command)


def test_the_check_sees_an_action_that_is_not_pinned() -> None:
    with pytest.raises(AssertionError):
        check_steps({"jobs": {"a": {"steps": [{"uses": "actions/checkout@main"}]}}})


def test_help_says_nothing_about_options_that_a_command_does_not_have() -> None:
    with pytest.raises(AssertionError, match="--sariff"):
        check_syncprobe(["gate", "--sariff", "x"])
