"""How fast the code base is before any patch, and where its time goes.

Absolute figures are printed, never asserted: they are the machine's. What is asserted is the shape that
makes this code base worth optimising.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from syncprobe.clock import SystemClock
from syncprobe.measuring.stopwatch import Stopwatch
from syncprobe.profiles.timing import region_means
from syncprobe.recording import marks
from syncprobe.targets import TargetOptions
from syncprobe.targets.legacy_code import AGENTS
from syncprobe.targets.marinenav import TrainTarget
from tests.benchmarks.conftest import Note

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

STEPS = 24


@pytest.mark.parametrize("agent", AGENTS)
def test_training_step(benchmark: BenchmarkFixture, note: Note, agent: str) -> None:
    target = TrainTarget(TargetOptions(agent=agent, steps=STEPS))
    passes: list[Stopwatch] = []

    def train() -> None:
        stopwatch = Stopwatch(SystemClock(), warmup=target.warmup, max_steps=STEPS)
        marks.activate(stopwatch)
        try:
            target.execute("cpu")
        finally:
            marks.activate(None)
        passes.append(stopwatch)

    benchmark.pedantic(train, rounds=2, iterations=1)
    regions = region_means([step for one in passes for step in one.steps])
    total = sum(regions.values())
    shares = {name: round(regions[name] / total, 3) for name in ("act", "env", "insert", "learn")}
    benchmark.extra_info |= {"steps per second": round(1e3 / total, 1), **shares}
    spent = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
    note(f"legacy, {agent}: {spent}", f"{1e3 / total:.1f} steps/s")
    assert shares["env"] > 0.5, "the environment step dominates this code base"
    assert shares["learn"] > 0.02, "learning updates must be part of what is measured"
    assert shares["act"] > 0.01
