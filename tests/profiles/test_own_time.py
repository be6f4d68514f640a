"""Own time from spans that were watched: what is taken off, and what is said about it."""

from __future__ import annotations

import pytest

from syncprobe.profiles.own_time.steps import OwnStep, StepWatch, own_step, waited_share


def watched(*, waited_ns: int) -> OwnStep:
    watch = StepWatch(
        0,
        end_ns=100_000,
        crossings=[(0, "act"), (60_000, "learn")],
        waits=[(0, 500), (100_000, 500 + waited_ns)],
    )
    return own_step(watch, [(20_000, 50_000), (70_000, 80_000)], allowance_ns=1_000)


def test_what_is_between_operators_belongs_to_its_region_less_the_calls():
    step = watched(waited_ns=0)
    # The first stretch pays for its call and the mark before it, the last one for the mark behind it.
    assert step.by_region == {"act": 20_000 - 3_000 + 20_000 - 1_000, "learn": 20_000 - 2_000}
    assert step.waited_share == 0.0


def test_waiting_for_a_processor_is_no_own_time_and_is_remembered():
    step = watched(waited_ns=45_000)
    # Who waits, waits long: the longest stretch, an operator of 30 us, is the first to be shortened.
    before = sum(watched(waited_ns=0).by_region.values())
    assert sum(step.by_region.values()) == before - 15_000
    assert step.waited_share == pytest.approx(0.45)


def test_a_usual_step_tells_how_busy_the_machine_was():
    shares = [0.0, 0.5, 0.9]
    assert waited_share([OwnStep((), 1, share) for share in shares]) == 0.5
    assert waited_share([]) == 0.0
