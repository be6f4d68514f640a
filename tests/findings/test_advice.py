"""Advice that fits the finding, not only its rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from syncprobe.findings.rules import advice
from syncprobe.findings.rules.frameworks import MOVING_AVERAGE
from tests.findings.conftest import Project, implicit, launch, site


@pytest.mark.parametrize(
    ("operation", "says"),
    [
        ("bincount", advice.COUNTED),
        ("histc", advice.BOUNDED),
        ("_unique2", advice.DISTINCT),
        ("nonzero", "Say the size (`num_classes=`, `output_size=`, `nonzero_static(size=)`)"),
    ],
)
def test_a_shape_that_depends_on_the_data(project: Project, operation: str, says: str) -> None:
    (finding,) = project.examine(implicit(operation=f"aten::{operation}")).findings
    assert finding.rule == "SP304"
    assert finding.advice.startswith(says)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("while error.item() > 0.1:\n    error = step()", advice.LOOP_END),
        (
            "for turn in range(9):\n    if error.item() < 0.1:\n        break\n    step()",
            advice.LOOP_END,
        ),
        ("for turn in range(9):\n    if error.item() < 0.1:\n        step()", "Compute both sides"),
        (
            "for turn in range(9):\n    n = error.item()\n    if n > 3:\n        step()",
            advice.DECIDED_BELOW,
        ),
        (
            "while go:\n    n = error.item()\n    if n < 0:\n        raise ValueError\n    step()",
            advice.LOOP_END,
        ),
    ],
)
def test_a_branch_on_the_device(project: Project, body: str, says: str) -> None:
    project.write(body)
    found = project.examine(site(project.at("error.item()", "<module>"), per_step=1.0))
    (finding,) = found.findings
    assert finding.rule == "SP106"
    assert finding.advice.startswith(says)


@pytest.mark.parametrize(
    "body",
    [
        "for turn in range(9):\n    n = error.item()\nif n > 3:\n    step()",
        "for turn in range(9):\n    n = error.item()\n    if n is not None:\n        step()",
        "for turn in range(9):\n    n = {'a': error.item()}\n    if n:\n        step()",
        "for turn in range(9):\n    n = error.item()\n    assert n > 3",
    ],
)
def test_what_nothing_in_the_turn_depends_on_is_no_branch(project: Project, body: str) -> None:
    project.write(body)
    assert project.rule(site(project.at("error.item()", "<module>"))) != "SP106"


def test_a_moving_average_of_a_library_can_be_told_to_use_foreach(project: Project) -> None:
    text = "for param in params:\n    param.lerp_(other, weight)\n"
    (project.root / "ema_pytorch").mkdir()
    (project.root / "ema_pytorch" / "ema.py").write_text(text)
    project.write(text)
    library = replace(project.at("lerp_"), path="ema_pytorch/ema.py")
    theirs, mine = project.examine(
        launch(library, operation="aten::lerp_", cost=20.0),
        launch(project.at("lerp_"), operation="aten::lerp_"),
    ).findings
    assert (theirs.rule, mine.rule) == ("SP503", "SP503")
    assert theirs.advice == f"{mine.advice} {MOVING_AVERAGE}"
