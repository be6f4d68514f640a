"""Own time from spans that were watched: what is taken off, and what is said about it."""

from __future__ import annotations

import pytest

from syncprobe.profiles.own_time.steps import OwnStep, StepWatch, estimate, own_step


def watched(*, waited_ns: int) -> OwnStep:
    watch = StepWatch(
        0,
        end_ns=100_000,
        crossings=[(0, "act"), (60_000, "learn")],
        waits=[0, 500, 100_000, 500 + waited_ns],
    )
    return own_step(watch, [(20_000, 50_000), (70_000, 80_000)], allowance_ns=1_000)


def test_what_is_between_operators_belongs_to_its_region_less_the_calls():
    step = watched(waited_ns=0)
    # The first stretch pays for its call and the mark before it, the last one for the mark behind it.
    assert step.by_region == {"act": 20_000 - 2_000 + 20_000 - 1_000, "learn": 20_000 - 1_000}
    assert step.waited_share == 0.0


def test_waiting_for_a_processor_is_no_own_time_and_is_remembered():
    step = watched(waited_ns=45_000)
    # Who waits, waits long: the longest stretch, an operator of 30 us, is the first to be shortened.
    before = sum(watched(waited_ns=0).by_region.values())
    assert sum(step.by_region.values()) == before - 15_000
    assert step.waited_share == pytest.approx(0.45)


def test_a_usual_step_tells_how_busy_and_how_fast_the_machine_was():
    steps = [
        OwnStep((("act", 1e6),), 1, share, yardstick_ns)
        for share, yardstick_ns in ((0.0, 900), (0.5, 1_000), (0.9, 3_000))
    ]
    own = estimate(steps, "watched")
    assert own is not None
    assert (own.waited_share, own.yardstick_ns) == (0.5, 1_000)


def test_own_time_that_others_kept_waiting_may_be_much_less():
    quiet, busy = (
        estimate([OwnStep((("act", 1e6),), 0, share)] * 5, "watched") for share in (0.0, 0.8)
    )
    assert quiet is not None
    assert busy is not None
    assert (quiet.low_ms, quiet.high_ms) == (1.0, 1.0)
    assert busy.ms_per_step == quiet.ms_per_step
    assert busy.high_ms == quiet.high_ms, "noise only adds"
    assert busy.low_ms == pytest.approx(1.0 / 2.2)


@pytest.mark.parametrize(
    ("disturbed", "steps", "is_believed"),
    [(2, 6, False), (4, 6, True), (2, 16, False), (5, 16, True)],
)
def test_a_short_stretch_is_believed_to_be_long_only_where_that_is_usual(
    disturbed, steps, is_believed
):
    lengths = [1_000] * (steps - disturbed) + [50_000] * disturbed
    own = estimate([OwnStep((("act", length),), 0) for length in lengths], "watched")
    assert own is not None
    assert (own.high_ms > 0.001) == is_believed
