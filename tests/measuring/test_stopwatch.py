from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from syncprobe.measuring.stopwatch import Stopwatch

if TYPE_CHECKING:
    from tests.recording.conftest import FakeClock


def test_time_goes_to_the_innermost_region_of_the_open_step(clock: FakeClock) -> None:
    stopwatch = Stopwatch(clock)
    for _ in range(2):
        stopwatch.begin_step()
        clock.advance_us(1)
        stopwatch.enter_region("act")
        clock.advance_us(10)
        stopwatch.enter_region("env")
        clock.advance_us(100)
        stopwatch.leave_region()
        clock.advance_us(10)
        stopwatch.leave_region()
        stopwatch.end_step()
        clock.advance_us(9999)
    assert [dict(step) for step in stopwatch.steps] == [
        {"other": 1000, "act": 20_000, "env": 100_000}
    ] * 2


def test_warm_up_and_surplus_steps_are_not_measured(clock: FakeClock) -> None:
    stopwatch = Stopwatch(clock, warmup=1, max_steps=2)
    for microseconds in (1, 2, 3, 4):
        stopwatch.begin_step()
        clock.advance_us(microseconds)
    stopwatch.end_step()
    assert [step["other"] for step in stopwatch.steps] == [2000, 3000]


def test_a_program_without_steps_is_one_measurement(clock: FakeClock) -> None:
    stopwatch = Stopwatch(clock)
    clock.advance_us(5)
    stopwatch.end_step()
    assert [dict(step) for step in stopwatch.steps] == [{"other": 5000}]


def test_reporting_progress_costs_no_measured_time(clock: FakeClock) -> None:
    told: list[int] = []

    def report(done: int) -> None:
        told.append(done)
        clock.advance_us(1000)

    stopwatch = Stopwatch(clock, on_step=report)
    for _ in range(3):
        stopwatch.begin_step()
        clock.advance_us(1)
    stopwatch.end_step()
    assert told == [0, 1, 2]
    assert [dict(step) for step in stopwatch.steps] == [{"other": 1000}] * 3


def test_other_threads_do_not_move_the_regions(clock: FakeClock) -> None:
    stopwatch = Stopwatch(clock)
    stopwatch.begin_step()
    worker = threading.Thread(target=stopwatch.enter_region, args=("act",))
    worker.start()
    worker.join()
    clock.advance_us(1)
    stopwatch.end_step()
    assert dict(stopwatch.steps[0]) == {"other": 1000}
