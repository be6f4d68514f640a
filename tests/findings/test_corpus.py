"""Every rule is tried on programs that deserve it and on programs that nearly do."""

from __future__ import annotations

from collections import Counter

import pytest

from syncprobe.findings import RULES
from tests.findings.corpus import CORPUS, Program
from tests.slowness import is_in_share, slow_unless

ENOUGH = 3


@pytest.mark.parametrize(
    "program",
    slow_unless(lambda program: is_in_share(program.name, one_in=2), CORPUS),
    ids=lambda program: program.name,
)
def test_finds_what_a_program_deserves_and_nothing_else(program: Program) -> None:
    assert program.found == program.expected


@pytest.mark.parametrize("rule", sorted(RULES))
def test_a_rule_has_programs_that_deserve_it_and_programs_that_nearly_do(rule: str) -> None:
    assert sum(rule in program.positives for program in CORPUS) >= ENOUGH
    assert sum(rule in program.negatives for program in CORPUS) >= ENOUGH


def test_marks_name_rules_that_exist() -> None:
    assert {rule for program in CORPUS for _, (rule, _) in program.marks} <= set(RULES)


@pytest.mark.slow  # runs all of them
def test_precision_and_recall(capsys: pytest.CaptureFixture[str]) -> None:
    """Of all that is found, how much is deserved; of all that is deserved, how much is found."""
    right, alarms, missed = Counter[str](), Counter[str](), Counter[str]()
    for program in CORPUS:
        right.update(rule for rule, _ in program.found & program.expected)
        alarms.update(rule for rule, _ in program.found - program.expected)
        missed.update(rule for rule, _ in program.expected - program.found)
    precision = right.total() / (right.total() + alarms.total())
    recall = right.total() / (right.total() + missed.total())
    with capsys.disabled():
        print(f"\n{len(CORPUS)} programs: precision {precision:.1%}, recall {recall:.1%}")
        for rule in sorted(alarms | missed):
            print(f"  {rule}: {alarms[rule]} false alarms, {missed[rule]} missed")
    assert (precision, recall) == (1.0, 1.0)
