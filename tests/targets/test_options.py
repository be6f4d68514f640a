"""Each option of a run is declared once; what is derived from the declaration agrees with it."""

from __future__ import annotations

import argparse
import ast
from dataclasses import fields
from pathlib import Path

import pytest

from syncprobe.budgets.project_file import RUN_KEYS
from syncprobe.cli.commands import compare, profile
from syncprobe.comparison import side_by_side
from syncprobe.profiles.model import Run
from syncprobe.targets import TargetOptions
from syncprobe.targets.base import OptionError
from syncprobe.targets.options import (
    OPTIONS,
    SCENARIO,
    TRAINERS,
    filled,
    flag,
    names_for,
    read_options,
)

PACKAGE = Path(__file__).parents[2] / "syncprobe"


def flags_of(command):
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return {name for action in parser._actions for name in action.option_strings}


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_is_a_flag_and_a_key_of_budgets(name):
    assert flag(name) in flags_of(profile)
    assert name in RUN_KEYS
    assert (flag(name) in flags_of(compare)) == (name != "patches")


def declared_flags(source):
    """Flags that a module declares by hand."""
    return {
        word.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument"
        for word in node.args
        if isinstance(word, ast.Constant)
    }


def test_an_option_is_named_as_a_flag_nowhere_but_in_help_for_people():
    """No module declares a flag of its own for it."""
    derived = {flag(name) for name in OPTIONS}
    declared = {
        str(path.relative_to(PACKAGE)): twice
        for path in PACKAGE.rglob("*.py")
        if (twice := declared_flags(path.read_text()) & derived)
    }
    # It takes steps of its own kind: how long to compare.
    assert declared.pop("cli/commands/verify.py") <= {
        "--agents",
        "--steps",
        "--patches",
        "--robots",
    }
    assert not declared


def test_the_check_sees_a_flag_that_is_declared_by_hand():
    source = 'parser.add_argument("-n", "--num-objects", type=int)'
    assert flag("num_objects") in declared_flags(source)


def test_what_makes_another_scenario_is_in_the_profile_and_in_comparisons():
    assert set(SCENARIO) <= {field.name for field in fields(Run)}
    assert ("target", *SCENARIO) == side_by_side.SCENARIO


def test_defaults_are_filled_in_for_built_in_targets():
    chosen = filled(TargetOptions(robots=2), TRAINERS[0])
    assert (chosen.robots, chosen.cores, chosen.steps, chosen.agent) == (2, 4, 10, "AC-IQN")


def test_a_value_that_is_too_small_is_refused():
    with pytest.raises(OptionError, match="--robots must be at least 1"):
        filled(TargetOptions(robots=0), TRAINERS[0])


def test_an_option_of_other_targets_is_refused():
    with pytest.raises(
        OptionError, match="--robots is not for nothing; it takes --steps, --warmup"
    ):
        filled(TargetOptions(robots=2), "nothing")


def test_what_people_write_is_parsed():
    assert read_options({"patches": "1-3", "agent": None}).patches == (1, 2, 3)


def test_programs_take_only_what_any_program_has():
    assert names_for(None) == ("steps", "warmup", "step_on", "own")
