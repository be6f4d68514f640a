"""Which steps are watched for their own time, and what is not looked at meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
import torch.profiler

from syncprobe.recording.own_time import operator_spans
from syncprobe.recording.own_time.calibration import CallCost
from syncprobe.recording.own_time.operator_spans import OperatorSpans
from syncprobe.recording.own_time.timer import FEW_STEPS, SPARSE, OwnTimer

if TYPE_CHECKING:
    from collections.abc import Callable

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


class _Called(torch.autograd.Function):
    """Does something while it is under way."""

    @staticmethod
    def forward(context: Any, values: torch.Tensor, action: Callable[[], None]) -> torch.Tensor:
        del context
        action()
        return values * 2


def test_nothing_is_watched_again_while_something_is_under_way_that_was_seen_before() -> None:
    """The profiler would write its end to memory that it has freed."""
    spans = OperatorSpans()
    started: list[bool] = []

    def stop_and_start() -> None:
        assert spans.stop() is not None
        started.append(spans.start())

    assert spans.start()
    _Called.apply(torch.ones(2), stop_and_start)
    assert started == [False]
    another = OperatorSpans()
    assert another.start(), "what another recording saw is over"
    another.stop()


def test_what_programs_annotate_is_not_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """An optimizer's step is annotated as a whole: it may be under way at one stop and the next start."""
    seen: list[str] = []

    def outermost(events: list[Any], ahead_ns: int) -> tuple[tuple[int, int], ...]:
        del ahead_ns
        seen.extend(event.name() for event in events)
        return ()

    monkeypatch.setattr(operator_spans, "_outermost", outermost)
    spans = OperatorSpans()
    assert spans.start()
    with torch.profiler.record_function("annotated"):
        torch.add(torch.ones(2), 1.0)
    spans.stop()
    assert "aten::add" in seen
    assert "annotated" not in seen


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
