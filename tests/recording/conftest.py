"""A clock that tests move by hand, and recorders that use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncprobe.cuda.costs import TwoClocks
from syncprobe.cuda.specs import SPECS
from syncprobe.recording.callsite import CallSiteFinder
from syncprobe.recording.recorder import Recorder


class FakeClock:
    """Time stands still until a test moves it."""

    def __init__(self) -> None:
        self.time_ns = 0

    def now_ns(self) -> int:
        return self.time_ns

    def advance_us(self, microseconds: float) -> None:
        self.time_ns += round(microseconds * 1e3)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def recorder(clock: FakeClock) -> Recorder:
    return Recorder(CallSiteFinder(Path(__file__).parents[2]), clock, TwoClocks(SPECS["t4"]))
