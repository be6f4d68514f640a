"""Which steps are watched for their own time, and what is not looked at meanwhile."""

from __future__ import annotations

import torch

from syncprobe.recording.own_time.calibration import CallCost
from syncprobe.recording.own_time.operator_spans import OperatorSpans
from syncprobe.recording.own_time.timer import FEW_STEPS, SPARSE, OwnTimer

OPERATORS = 400
"""Per step: five of them are watched in a row."""


def passed(timer: OwnTimer, steps: int) -> list[bool]:
    """Which of so many steps were watched."""
    watched = []
    for _ in range(steps):
        timer.begin("other", OPERATORS)
        watched.append(timer.is_watching)
        timer.end(0)
    return watched


def test_a_few_steps_are_watched_at_once_and_then_one_in_ten() -> None:
    timer = OwnTimer(CallCost(outside_ns=1000, yardstick_ns=1000))
    assert all(passed(timer, FEW_STEPS))
    assert not any(passed(timer, FEW_STEPS * (SPARSE - 1) - 1))
    assert passed(timer, 1) == [True]
    passed(timer, 280)
    assert 36 <= len(timer.steps) <= 45


def test_what_the_recorder_does_is_not_reported() -> None:
    spans = OperatorSpans()
    values = torch.ones(2)
    assert spans.start()
    torch.add(values, values)
    spans.look_away()
    torch.add(values, values)
    spans.look_again()
    torch.add(values, values)
    seen = spans.stop()
    assert seen is not None
    assert len(seen) == 2
