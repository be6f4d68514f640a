"""What the five steps are worth to the workloads beside MarineNav, as ratios in the same process."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Final

import pytest

from syncprobe.pytest_plugin.speed import SpeedGate
from syncprobe.targets import TargetOptions, clean_passes
from syncprobe.targets.workloads.packing import PackingTarget
from syncprobe.targets.workloads.uara import UaraTarget
from tests.benchmarks.conftest import Note

TOLERATED: Final = 2 / 3
FIGURE: Final = 5.0
COLLECTION_FIGURE: Final = 1.5
ENVIRONMENTS: Final = 4


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


def packing(patches: tuple[int, ...]) -> Callable[[], float]:
    options = TargetOptions(
        steps=2, resolution=200, phase="worker", epsilon=0.0, patches=patches, mode="exact"
    )
    target = PackingTarget(options)
    return lambda: clean_passes.clean_pass(target, "cpu").ms_per_step


def test_packing_decision(syncprobe_speedup: SpeedGate, note: Note) -> None:
    """A step is a decision and a look ahead; what else there is in it makes the ratio smaller."""
    verdict = syncprobe_speedup(
        packing(()),
        packing((1, 2, 3, 4, 5)),
        at_least=FIGURE,
        is_self_timed=True,
        rounds=3,
        most_rounds=6,
    )
    note("packing decision, 20 objects, resolution 200", verdict.speedup.ratio, f"{FIGURE:g}x")


def collecting(kind: str, undo: ExitStack) -> Callable[[], float]:
    """Milliseconds per step of several environments of MarineNav, without anybody who learns."""
    vectors = pytest.importorskip("syncprobe.workloads.vecenv.vectors")
    environments = pytest.importorskip("syncprobe.workloads.vecenv.environments")
    made = vectors.make_vec(environments.makers("marinenav", ENVIRONMENTS), kind)
    undo.callback(made.env.close)
    assert kind in made.used.lower(), made.reason
    made.env.seed(0)
    made.env.reset()
    return lambda: _ms_per_step(made.env, steps=10)


def _ms_per_step(env: Any, steps: int) -> float:
    started = time.perf_counter()
    for step in range(steps):
        env.step([step % 9] * ENVIRONMENTS)
    return (time.perf_counter() - started) / steps * 1e3


def test_collection_in_worker_processes(syncprobe_speedup: SpeedGate, note: Note) -> None:
    """Two idle cores give 1.5x and more; where others use them, workers must still cost little."""
    with ExitStack() as undo:
        verdict = syncprobe_speedup(
            collecting("dummy", undo),
            collecting("subproc", undo),
            at_least=COLLECTION_FIGURE / 2,
            is_self_timed=True,
            rounds=5,
            most_rounds=20,
        )
    what = f"vecenv collection, MarineNav, {ENVIRONMENTS} environments, worker processes"
    note(what, verdict.speedup.ratio, f"{COLLECTION_FIGURE:g}x on two idle cores")
