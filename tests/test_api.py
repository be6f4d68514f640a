"""The public names: whole, documented, and hidden by no module."""

from __future__ import annotations

import inspect
import pkgutil

import pytest

import syncprobe
from syncprobe.cli import COMMANDS

LIBRARY = {
    "profile": "run",
    "report": "load",
    "import": "import_trace",
    "doctor": None,  # it tells about the machine, to people
}
"""What a command is called in the library, where that is not its own name."""


@pytest.mark.parametrize("name", syncprobe.__all__)
def test_a_public_name_is_documented_and_typed(name):
    thing = getattr(syncprobe, name)
    if callable(thing):
        assert inspect.getdoc(thing)
    if inspect.isfunction(thing):
        assert "return" in thing.__annotations__


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_command_does_the_library_does(command):
    name = LIBRARY.get(command, command)
    assert name is None or name in syncprobe.__all__


def test_no_module_hides_a_public_name():
    modules = {module.name for module in pkgutil.iter_modules(syncprobe.__path__)}
    assert not modules & set(syncprobe.__all__)
    for module in modules:
        __import__(f"syncprobe.{module}")
    assert all(not inspect.ismodule(getattr(syncprobe, name)) for name in syncprobe.__all__)


def test_the_plan_can_be_read_without_running_it():
    report = syncprobe.plan(measure=False)
    assert [step.number for step in report.steps] == [1, 2, 3, 4, 5]
    assert report.levels == ()


def test_a_rule_is_explained():
    assert syncprobe.explain("sp101").id == "SP101"


def test_an_error_of_ours_can_be_caught():
    with pytest.raises(syncprobe.SyncprobeError, match="There is no file"):
        syncprobe.load("nothing.json")


@pytest.mark.slow  # trains over and over
def test_one_agent_is_verified():
    verification = syncprobe.verify(
        agents=["dqn"], pipelines=["original"], patches=["1"], steps=6, modes=["exact"]
    )
    assert verification.is_equivalent
