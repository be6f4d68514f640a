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


def test_an_operator_is_explained_with_its_source(capsys):
    assert main(["explain", "aten::nonzero"]) == 0
    shown = capsys.readouterr().out
    assert "The host waits: always." in shown
    assert "aten/src/ATen/native/cuda/Nonzero.cu" in shown


def test_since_when_and_the_backward_pass_are_said(capsys):
    assert main(["explain", "aten::equal"]) == 0
    assert "Since torch 2.1." in capsys.readouterr().out
    assert main(["explain", "aten::prod"]) == 0
    shown = capsys.readouterr().out
    assert "The host waits: never." in shown
    assert "Its backward pass: torch/csrc/autograd/FunctionsManual.cpp" in shown


def test_an_operator_as_json(capsys):
    assert main(["explain", "aten::embedding_renorm_", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["waits"] == "never"
    assert facts["source"]["file"].endswith("cuda/Embedding.cu")
    assert facts["source"]["since"] == "1.11"


def test_an_unknown_operator_is_one_line_and_exit_code_2(capsys):
    assert main(["explain", "aten::nonzeroo"]) == 2
    shown = capsys.readouterr().err
    assert "Did you mean 'aten::nonzero'?" in shown
    assert shown.count("\n") == 1
