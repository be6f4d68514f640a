"""Speed gates: races on measurements that are made up, and the fixture in pytests of its own."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from syncprobe.comparison.race import race, timed
from syncprobe.errors import SyncprobeError
from syncprobe.rendering.variants.race import sentence


class Ticking:
    """A clock on which every look takes a millisecond."""

    def __init__(self) -> None:
        self._ticks = itertools.count()

    def now_ns(self) -> int:
        return next(self._ticks) * 1_000_000


def measured(*values: float) -> Callable[[], float]:
    endless: Iterator[float] = itertools.cycle(values)
    return lambda: next(endless)


def test_a_clear_ratio_is_decided_at_the_first_look() -> None:
    reached = race(measured(40.0), measured(10.0), at_least=3.0, rounds=5)
    assert reached.is_reached is True
    assert (reached.speedup.ratio.median, reached.speedup.ratio.rounds) == (4.0, 5)
    missed = race(measured(40.0), measured(10.0), at_least=5.0, rounds=5)
    assert missed.is_reached is False
    assert sentence(missed) == (
        "4x faster, measured (95% interval 4.00x to 4.00x, 5 rounds); at least 5x asked for"
    )


def test_rounds_are_added_until_the_ratio_is_clear() -> None:
    # One round in five is disturbed: too many to tell after three, not after some more.
    before = measured(40.0, 40.0, 10.0, 40.0, 40.0)
    verdict = race(before, measured(10.0), at_least=3.0, rounds=3, most_rounds=100)
    assert verdict.is_reached is True
    assert verdict.speedup.ratio.rounds > 3


def test_what_cannot_be_told_is_inconclusive() -> None:
    verdict = race(measured(20.0, 40.0), measured(10.0), at_least=3.0, rounds=4, most_rounds=10)
    assert verdict.is_reached is None
    assert verdict.speedup.ratio.rounds == 10
    assert sentence(verdict).startswith("inconclusive: 3x faster")


def test_variants_take_turns_after_one_round_that_only_warms_up() -> None:
    order: list[str] = []

    def noted(name: str) -> Callable[[], float]:
        def measure() -> float:
            order.append(name)
            return 1.0

        return measure

    race(noted("a"), noted("b"), at_least=0.5, rounds=3)
    assert order == ["a", "b"] * 4


@pytest.mark.parametrize(
    "options",
    [{"at_least": 0.0}, {"at_least": 1.0, "rounds": 2}, {"at_least": 1, "most_rounds": 4}],
)
def test_races_that_decide_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SyncprobeError):
        race(measured(1.0), measured(1.0), **options)


def test_work_is_timed_in_milliseconds() -> None:
    assert timed(lambda: None, Ticking())() == 1.0


CASES = """\
import itertools

from syncprobe.clock import SystemClock

def test_reached(syncprobe_speedup, monkeypatch):
    passed = [0]  # a clock that only work moves on, so that the load of the machine does not count
    monkeypatch.setattr(SystemClock, "now_ns", lambda self: passed[0])
    def work(nanoseconds):
        passed[0] += nanoseconds
    verdict = syncprobe_speedup(lambda: work(20_000), lambda: work(2_000), at_least=2)
    assert verdict.speedup.ratio.median == 10

def test_missed(syncprobe_speedup):
    syncprobe_speedup(lambda: 40, lambda: 10, at_least=5, is_self_timed=True)

def test_open(syncprobe_speedup):
    times = itertools.cycle([20, 40])
    syncprobe_speedup(
        lambda: next(times), lambda: 10, at_least=3, rounds=4, most_rounds=10, is_self_timed=True
    )

def test_twice(syncprobe_speedup):
    for _ in range(2):
        syncprobe_speedup(lambda: 40, lambda: 10, at_least=2, is_self_timed=True)

def test_plain():
    pass
"""


def run(folder: Path, *options: str) -> dict[str, str]:
    """What each test came to, with the reason if there is one, and all output as ``output``."""
    (folder / "test_speed.py").write_text(CASES)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-vrA", "-p", "no:cacheprovider", "-Werror", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        # On a worker of pytest-xdist, pytest-benchmark would measure nothing.
        env={name: each for name, each in os.environ.items() if "XDIST" not in name},
    )
    outcomes = {"output": done.stdout + done.stderr}
    for line in done.stdout.splitlines():
        if line.startswith("test_speed.py::"):
            name, outcome = line.removeprefix("test_speed.py::").split()[:2]
            outcomes[name] = outcome
    return outcomes


GATES = ("test_reached", "test_missed", "test_open", "test_twice")
JUDGED = {
    "test_reached": "PASSED",
    "test_missed": "FAILED",
    "test_open": "FAILED",
    "test_twice": "PASSED",
    "test_plain": "PASSED",
}


def test_the_fixture_needs_no_benchmark_plugin(tmp_path: Path) -> None:
    found = run(tmp_path, "-p", "no:benchmark")
    output = found.pop("output")
    assert found == JUDGED
    assert "4x faster, measured (95% interval 4.00x to 4.00x, 5 rounds)" in output
    assert "inconclusive: 3x faster" in output


@pytest.mark.slow  # a session of its own
def test_figures_are_kept_with_the_benchmarks(tmp_path: Path) -> None:
    found = run(tmp_path, "--benchmark-json=benchmarks.json")
    output = found.pop("output")
    assert found == JUDGED
    assert "benchmark: 4 tests" in output
    benchmarks = json.loads((tmp_path / "benchmarks.json").read_text())["benchmarks"]
    noted = {each["name"]: each["extra_info"]["speedups"] for each in benchmarks}
    assert noted["test_missed"] == [
        {
            "ratio": 4.0,
            "low": 4.0,
            "high": 4.0,
            "rounds": 5,
            "at_least": 5,
            "before_ms": 40,
            "after_ms": 10,
        }
    ]
    assert len(noted["test_twice"]) == 2


@pytest.mark.slow  # a session of its own
def test_options_for_benchmarks_choose_speed_gates_too(tmp_path: Path) -> None:
    only = run(tmp_path, "--benchmark-only")
    assert {name: only[name] for name in JUDGED} == {**JUDGED, "test_plain": "SKIPPED"}
    without = run(tmp_path, "--benchmark-skip")
    assert {without[name] for name in GATES} == {"SKIPPED"}
    assert without["test_plain"] == "PASSED"


@pytest.mark.slow  # a session of its own
def test_what_is_not_measured_is_skipped_not_passed(tmp_path: Path) -> None:
    found = run(tmp_path, "--benchmark-disable")
    assert {found[name] for name in GATES} == {"SKIPPED"}
    assert "speed is not measured" in found["output"]
