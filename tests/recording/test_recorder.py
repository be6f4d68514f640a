from __future__ import annotations

import threading
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from syncprobe.events import EventKind
from syncprobe.recording.callsite import NOWHERE, CallSiteFinder
from syncprobe.recording.recorder import NO_STEP, Recorder

if TYPE_CHECKING:
    from tests.recording.conftest import FakeClock

READ = EventKind.SCALAR_READ
LAUNCH = EventKind.LAUNCH


def test_events_of_one_line_are_added_up(recorder: Recorder) -> None:
    for _ in range(1000):
        recorder.emit(READ, "Tensor.item", is_blocking=True, nbytes=4)
    (total,) = recorder.sums
    assert (total.count, total.nbytes, total.is_blocking) == (1000, 4000, True)
    assert recorder.counts["scalar_read"] == 1000
    assert recorder.counts["launch"] == 0


def test_lines_kinds_and_regions_are_kept_apart(recorder: Recorder) -> None:
    recorder.emit(READ, "Tensor.item", is_blocking=True)
    recorder.emit(READ, "Tensor.item", is_blocking=True)
    recorder.emit(LAUNCH, "aten::add")
    recorder.enter_region("act")
    for region in ("act", "learn"):
        recorder.enter_region(region)
        recorder.emit(LAUNCH, "aten::add")
        recorder.leave_region()
    recorder.leave_region()
    assert [(total.kind, total.region) for total in recorder.sums] == [
        (READ, "other"),
        (READ, "other"),
        (LAUNCH, "other"),
        (LAUNCH, "act"),
        (LAUNCH, "learn"),
    ]


def test_only_recorded_steps_count(clock: FakeClock) -> None:
    limited = Recorder(CallSiteFinder(), clock, warmup=2, max_steps=3)
    for _ in range(10):
        limited.begin_step()
        limited.emit(LAUNCH, "aten::add")
        limited.end_step()
    limited.emit(LAUNCH, "aten::mul")
    assert limited.steps_recorded == 3
    assert limited.counts["launch"] == 3
    assert limited.step == NO_STEP


def test_set_up_before_the_first_step_is_counted_but_not_per_step(recorder: Recorder) -> None:
    def work() -> None:
        recorder.emit(LAUNCH, "aten::add")

    work()
    recorder.begin_step()
    work()
    recorder.end_step()
    assert sum(total.count for total in recorder.sums) == 2
    assert sum(total.in_steps for total in recorder.sums) == 1


def test_the_last_read_of_a_decision_is_the_needed_one(recorder: Recorder) -> None:
    for _ in range(4):
        recorder.begin_step()
        recorder.enter_region("act")
        for operation in ("first", "second"):
            recorder.emit(EventKind.COPY_TO_HOST, operation, is_blocking=True)
        recorder.leave_region()
        recorder.enter_region("learn")
        recorder.emit(READ, "loss", is_blocking=True)
        recorder.leave_region()
        recorder.end_step()
    assert {total.operation: total.needed for total in recorder.sums} == {
        "first": 0,
        "second": 4,
        "loss": 0,
    }


def test_single_events_are_kept_up_to_the_limit(clock: FakeClock) -> None:
    recorder = Recorder(CallSiteFinder(), clock, max_events=2)
    for _ in range(5):
        recorder.emit(LAUNCH, "aten::add", nbytes=8)
    assert [event.nbytes for event in recorder.events] == [8, 8]
    assert recorder.events_dropped == 3
    assert recorder.counts["launch"] == 5


def test_an_event_knows_its_site_stack_step_region_and_thread(recorder: Recorder) -> None:
    recorder.begin_step()
    recorder.enter_region("act")
    recorder.emit(READ, "Tensor.item", is_blocking=True, nbytes=4)
    (event,) = recorder.events
    assert event.site.path.endswith("test_recorder.py")
    assert event.site.function == "test_an_event_knows_its_site_stack_step_region_and_thread"
    assert (event.region, event.step, event.thread) == ("act", 0, "MainThread")


def test_work_of_a_thread_without_user_code_is_charged_to_the_caller(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    finder = recorder._finder
    find = finder.find
    main = threading.current_thread()
    monkeypatch.setattr(
        finder,
        "find",
        lambda frame, *_: find(frame) if threading.current_thread() is main else None,
    )
    recorder.enter_region("learn")
    with recorder.charged_to_caller():
        worker = threading.Thread(target=recorder.emit, args=(LAUNCH, "aten::mm"))
        worker.start()
        worker.join()
    orphan = threading.Thread(target=recorder.emit, args=(LAUNCH, "aten::mm"))
    orphan.start()
    orphan.join()
    charged, alone = recorder.sums
    assert charged.region == "learn"
    assert Path(charged.origin.site.path).name == "test_recorder.py"
    assert alone.origin.site == NOWHERE


def test_regions_belong_to_their_thread(recorder: Recorder) -> None:
    recorder.enter_region("act")
    worker = threading.Thread(target=recorder.emit, args=(LAUNCH, "aten::mm"))
    worker.start()
    worker.join()
    assert recorder.sums[0].region == "other"


def test_host_time_is_what_passes_while_the_program_has_control(
    recorder: Recorder, clock: FakeClock
) -> None:
    recorder.begin_step()
    recorder.enter_region("env")
    clock.advance_us(700)
    recorder.leave_region()
    recorder.enter_region("act")
    clock.advance_us(100)
    recorder.pause()
    clock.advance_us(5000)
    recorder.emit(LAUNCH, "aten::add", nbytes=8)
    recorder.resume()
    clock.advance_us(50)
    recorder.leave_region()
    recorder.end_step()
    times = recorder.times().regions
    assert times["env"].host_ns == 700_000
    assert times["act"].host_ns == 150_000
    assert times["act"].modelled_ns == 155_000, "one launch costs the host five microseconds"


def test_concurrent_threads_lose_no_event(recorder: Recorder) -> None:
    def work() -> None:
        for _ in range(2000):
            recorder.emit(LAUNCH, "aten::add", nbytes=1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert recorder.counts["launch"] == 8000
    assert sum(total.nbytes for total in recorder.sums) == 8000


def test_memory_does_not_grow_with_the_number_of_events(clock: FakeClock) -> None:
    recorder = Recorder(CallSiteFinder(), clock)
    recorder.emit(LAUNCH, "aten::add")
    tracemalloc.start()
    for _ in range(50_000):
        recorder.emit(LAUNCH, "aten::add", nbytes=8)
    current, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert current < 4e6, "only the first 10,000 single events may be kept"
