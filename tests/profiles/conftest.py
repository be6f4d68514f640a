"""Sums of events in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from syncprobe.events import CallSite, EventKind, EventSum, Origin


@pytest.fixture
def event_sum() -> Callable[..., EventSum]:
    def make(
        kind: EventKind = EventKind.SCALAR_READ,
        *,
        line: int = 10,
        count: int = 1,
        caller: int | None = None,
        region: str = "act",
        is_blocking: bool | None = None,
        **rest: Any,
    ) -> EventSum:
        above = () if caller is None else (CallSite("loop.py", caller, "loop"),)
        quiet = {EventKind.LAUNCH, EventKind.CONVERSION, EventKind.ALLOCATION}
        return EventSum(
            kind=kind,
            operation=rest.pop("operation", "Tensor.item"),
            origin=Origin(stack=(CallSite("agent.py", line, "act"), *above), entry=""),
            region=region,
            is_blocking=kind not in quiet if is_blocking is None else is_blocking,
            count=count,
            in_steps=rest.pop("in_steps", count),
            **rest,
        )

    return make
