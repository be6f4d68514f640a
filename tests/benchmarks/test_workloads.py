"""What the five steps are worth to the workloads beside MarineNav, as ratios in the same process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

from syncprobe.pytest_plugin.speed import SpeedGate
from syncprobe.targets import TargetOptions, clean_passes
from syncprobe.targets.uara import UaraTarget
from tests.benchmarks.conftest import Note

TOLERATED: Final = 2 / 3
FIGURE: Final = 5.0


def stepping(users: int, patches: tuple[int, ...]) -> Callable[[], float]:
    target = UaraTarget(TargetOptions(users=users, steps=8, patches=patches))
    return lambda: clean_passes.clean_pass(target, "cpu").ms_per_step


def test_user_association_step(syncprobe_speedup: SpeedGate, note: Note) -> None:
    bound = TOLERATED * FIGURE
    before, after = stepping(100, ()), stepping(100, (1, 2, 3, 4, 5))
    verdict = syncprobe_speedup(
        before, after, at_least=bound, is_self_timed=True, rounds=3, most_rounds=12
    )
    note("uara step, 36 stations, 100 users", verdict.speedup.ratio, f"{FIGURE:g}x")


COLLECTION: Final = 1.5
"""Worker processes against one process, two cores, an environment whose steps take milliseconds."""
ENVIRONMENTS: Final = 4
VECTOR_STEPS: Final = 20


def collecting(env: Any) -> Callable[[], float]:
    """Steps of environments from the same maps on, timed without their reset."""

    def collect() -> float:
        env.seed(0)
        env.reset()
        started = time.perf_counter()
        for number in range(VECTOR_STEPS):
            env.step(np.full(ENVIRONMENTS, number % 25))
        return (time.perf_counter() - started) * 1e3 / VECTOR_STEPS

    return collect


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="worker processes need cores of their own")
def test_collection_in_worker_processes(syncprobe_speedup: SpeedGate, note: Note) -> None:
    vectors = pytest.importorskip("syncprobe.workloads.vecenv.vectors")
    environments = pytest.importorskip("syncprobe.workloads.vecenv.environments")
    before, after = (
        vectors.make_vec(environments.makers("marinenav", ENVIRONMENTS), kind).env
        for kind in ("dummy", "subproc")
    )
    try:
        verdict = syncprobe_speedup(
            collecting(before),
            collecting(after),
            at_least=TOLERATED * COLLECTION,
            is_self_timed=True,
            rounds=3,
            most_rounds=12,
        )
    finally:
        after.close()
    note("vecenv collection, workers, MarineNav", verdict.speedup.ratio, f"{COLLECTION:g}x")
