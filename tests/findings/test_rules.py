from __future__ import annotations

import ast
import dataclasses
import re

import pytest

from syncprobe.errors import UnknownNameError
from syncprobe.findings import FAMILIES, PLAN_STEPS, RULES, all_rules, explain


@pytest.mark.parametrize("name", sorted(RULES))
class TestEachRule:
    def test_has_all_its_texts(self, name: str) -> None:
        rule = RULES[name]
        for field in dataclasses.fields(rule):
            assert getattr(rule, field.name) != ""
        for text in (rule.flags, rule.why, rule.advice):
            assert text == text.strip()
            assert text.endswith(".")
        assert not rule.title.endswith(".")

    def test_has_an_id_of_its_family_and_a_step_of_the_plan(self, name: str) -> None:
        rule = RULES[name]
        assert rule.id == name
        assert re.fullmatch(r"SP[1-6]\d\d", name)
        assert name[2] in FAMILIES
        assert rule.plan_step in PLAN_STEPS

    def test_has_examples_that_are_python_and_differ(self, name: str) -> None:
        rule = RULES[name]
        ast.parse(rule.example)
        ast.parse(rule.instead)
        assert rule.example != rule.instead

    def test_is_explained_in_full(self, name: str) -> None:
        rule, text = RULES[name], explain(name).markdown
        for part in (rule.title, rule.flags, rule.why, rule.example, rule.instead, rule.advice):
            assert part in text
        assert f"# syncprobe: allow[{name}] reason" in text
        assert PLAN_STEPS[rule.plan_step] in text


def test_ids_stay_what_they_are() -> None:
    """Ids are in profiles, gates and allow comments: a rule may be added here, never renumbered."""
    assert {rule.id: rule.title for rule in all_rules()} == {
        "SP100": "Scalar read",
        "SP101": "Scalar read in a per-sample loop",
        "SP102": "Read of a value nobody uses",
        "SP103": "Loss or metric read back at each update",
        "SP104": "Several reads where one would do",
        "SP105": "Device tensor printed or formatted",
        "SP106": "Branch on a device value",
        "SP107": "Device tensors inside a list given to torch.tensor",
        "SP108": "Scalar read hidden inside a library call",
        "SP200": "Transfer between host and device",
        "SP201": "Copy to the host for each sample",
        "SP202": "non_blocking copy from pageable memory",
        "SP203": "Host index on a device tensor",
        "SP204": "Batch uploaded from the host at each update",
        "SP205": "Random numbers drawn on the host and uploaded",
        "SP206": "Pageable upload in every step",
        "SP207": "Read-back of the decision",
        "SP208": "Upload from pinned memory that waits",
        "SP300": "Operation that waits for the device",
        "SP301": "Argument validation in a distribution",
        "SP302": "Boolean mask selects from a device tensor",
        "SP303": "Boolean mask writes to a device tensor",
        "SP304": "Result whose shape depends on the data",
        "SP305": "Normal.sample() where rsample() gives the same bits",
        "SP306": "torch.normal with a tensor of standard deviations",
        "SP307": "Multinomial draw that checks its input",
        "SP308": "GradScaler.step reads the overflow flag",
        "SP309": "Whole tensors compared on the host",
        "SP310": "Explicit synchronize",
        "SP311": "Linear algebra that checks for errors on the host",
        "SP400": "Tensor built from Python data in every step",
        "SP401": "Host data made into a device tensor at each call",
        "SP402": "Constant tensor rebuilt each time",
        "SP403": "Buffer allocated in every step",
        "SP501": "Batch-of-one forwards in a loop",
        "SP502": "Tiny launches that could be one",
        "SP503": "Loop over parameters",
        "SP504": "Optimizer step of many operations",
        "SP601": "Python work on the host dominates the step",
    }


def test_explain_does_not_mind_case() -> None:
    assert explain(" sp101 ").id == "SP101"


def test_explain_suggests_a_rule() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'SP"):
        explain("SP1O1")


def test_rules_are_listed_by_id() -> None:
    ids = [rule.id for rule in all_rules()]
    assert ids == sorted(ids)
    assert len(ids) == len(RULES)
