from __future__ import annotations

from typing import TYPE_CHECKING

from syncprobe.events import EventKind
from syncprobe.profiles.timeline import timeline_of
from syncprobe.recording.kept.film import MAX_FILMS, MAX_MOMENTS

if TYPE_CHECKING:
    from syncprobe.profiles.model import Timeline
    from syncprobe.recording.recorder import Recorder
    from tests.recording.conftest import FakeClock


def step(recorder: Recorder, launches: int) -> None:
    recorder.begin_step()
    for _ in range(launches):
        recorder.emit(EventKind.LAUNCH, "aten::add", nbytes=8)
    recorder.end_step()


def timeline(recorder: Recorder) -> Timeline:
    recorder.close()
    return timeline_of(recorder.films[0])


def test_the_median_step_comes_first_then_the_fullest_and_the_longest(
    recorder: Recorder, clock: FakeClock
) -> None:
    for launches, own_us in ((1, 10), (3, 10), (3, 10), (2, 10), (2, 900)):
        recorder.begin_step()
        clock.advance_us(own_us)
        for _ in range(launches):
            recorder.emit(EventKind.LAUNCH, "aten::add", nbytes=8)
        recorder.end_step()
    recorder.close()
    assert [(film.step, film.events) for film in recorder.films] == [(4, 2), (1, 3)]


def test_among_steps_with_equally_many_events_the_median_is_by_time(
    recorder: Recorder, clock: FakeClock
) -> None:
    for own_us in (900, 30, 10):
        recorder.begin_step()
        clock.advance_us(own_us)
        recorder.end_step()
    recorder.close()
    assert [film.step for film in recorder.films] == [1, 0]


def test_of_a_long_run_a_sample_is_kept_that_reaches_to_its_end(recorder: Recorder) -> None:
    for number in range(10 * MAX_FILMS):
        step(recorder, number % 50)
    assert len(recorder.films) == 2
    assert abs(recorder.films[0].events - 25) <= 3
    assert recorder.films[1].events == 49


def test_work_from_before_the_step_keeps_the_device_busy_in_it(recorder: Recorder) -> None:
    for _ in range(3):
        recorder.emit(EventKind.LAUNCH, "aten::mul", nbytes=80_000_000)
    step(recorder, 1)
    found = timeline(recorder)
    assert found.device_free_us > 100
    assert found.spans[0].device_start_us >= found.device_free_us


def test_a_run_without_steps_is_one_film(recorder: Recorder) -> None:
    recorder.emit(EventKind.CONVERSION, "torch.tensor", nbytes=4)
    found = timeline(recorder)
    assert found.step == 0
    assert [span.kind for span in found.spans] == [EventKind.CONVERSION]


def test_what_comes_before_the_first_step_is_not_in_it(recorder: Recorder) -> None:
    for _ in range(9):
        recorder.emit(EventKind.LAUNCH, "aten::mul", nbytes=8)
    step(recorder, 1)
    found = timeline(recorder)
    assert [span.operation for span in found.spans] == ["aten::add"]
    assert found.spans[0].start_us == 0


def test_host_and_device_are_drawn_as_the_clocks_ran(recorder: Recorder, clock: FakeClock) -> None:
    recorder.begin_step()
    recorder.enter_region("env")
    clock.advance_us(700)
    recorder.leave_region()
    recorder.enter_region("act")
    recorder.emit(EventKind.LAUNCH, "aten::add", nbytes=8)
    recorder.emit(EventKind.ALLOCATION, "aten::add", nbytes=8)
    recorder.emit(EventKind.SCALAR_READ, "aten::item", is_blocking=True, nbytes=4)
    recorder.leave_region()
    recorder.end_step()
    found = timeline(recorder)

    assert [(each.region, each.start_us) for each in found.regions] == [("env", 0), ("act", 700)]
    assert found.regions[1].start_us + found.regions[1].duration_us == found.duration_us
    launch, read = found.spans
    assert (launch.start_us, launch.host_us, launch.stall_us) == (700, 5, 0)
    assert (launch.device_start_us, launch.device_us) == (705, 4)
    assert read.start_us == 705
    assert read.host_us == read.stall_us > 4, "it waits for the kernel and for the transfer"
    assert read.start_us + read.host_us == found.duration_us


def test_stretches_of_one_region_that_touch_are_one(recorder: Recorder, clock: FakeClock) -> None:
    recorder.begin_step()
    for _ in range(2):
        recorder.enter_region("act")
        clock.advance_us(10)
        recorder.leave_region()
    recorder.end_step()
    assert [(each.region, each.duration_us) for each in timeline(recorder).regions] == [("act", 20)]


def test_a_step_with_more_events_than_fit_says_how_many_were_left_out(recorder: Recorder) -> None:
    step(recorder, MAX_MOMENTS + 7)
    found = timeline(recorder)
    assert len(found.spans) == MAX_MOMENTS
    assert found.spans_left_out == 7
