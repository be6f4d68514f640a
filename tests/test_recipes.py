"""The recipes for CI and pre-commit are valid, and what they run is there."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import yaml
from pre_commit.clientlib import load_config, load_manifest

from tests.workflows import ROOT, check_command, check_commands, check_steps, check_syncprobe

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.y*ml"))


def test_there_is_a_workflow() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_what_exists(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    check_steps(workflow)


def test_ci_runs_the_same_checks_as_a_laptop() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    runs = [step["run"] for step in workflow["jobs"]["check"]["steps"] if "run" in step]
    assert ".ci/run" in runs
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    targets = [line for line in script if line.startswith("make ")]
    assert targets
    check_commands("\n".join(targets))


def test_artifacts_and_cache_keys_name_what_exists() -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    for name in ("pyproject.toml", "constraints.txt", "reports/"):
        assert name in text
        assert (ROOT / name).exists()


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
