"""``syncprobe explain``: all rules in a list, each in full."""

from __future__ import annotations

import json

import pytest

from syncprobe.cli import main
from syncprobe.findings import RULES


def test_without_a_rule_all_are_listed(capsys):
    assert main(["explain"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name}  {RULES[name].title}" in shown for name in RULES)


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_explained_with_an_example(name, capsys):
    assert main(["explain", name.lower()]) == 0
    shown = capsys.readouterr().out
    assert RULES[name].title in shown
    assert RULES[name].instead in shown


def test_json_of_one_and_of_all(capsys):
    assert main(["explain", "SP101", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "SP101"
    assert main(["explain", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(RULES)
