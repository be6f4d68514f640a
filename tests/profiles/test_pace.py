"""A filmed step at the program's own pace: own code moves together, events stay as long as they are."""

from __future__ import annotations

import pytest

from syncprobe.events import Moment, RegionTime, StepFilm
from syncprobe.profiles.host import OwnTime
from syncprobe.profiles.pace import at_pace, paces


def film() -> StepFilm:
    """100 ns of own code in ``env``, a launch of 20, 80 of own code in ``act``, a read of 50, 10 at the end."""
    return StepFilm(
        step=3,
        start_ns=1000.0,
        end_ns=1260.0,
        crossings=[(1000.0, "env"), (1100.0, "act")],
        device_free_ns=1000.0,
        moments=[
            Moment(None, 0, 1100.0, 20.0, 0.0, 1120.0, 60.0),
            Moment(None, 4, 1200.0, 50.0, 50.0, 1240.0, 10.0),
        ],
    )


def test_own_code_is_as_long_as_its_region_s_pace_says():
    found = at_pace(film(), {"env": 0.5, "act": 0.25})
    launch, read = found.moments
    assert found.crossings == [(1000.0, "env"), (1050.0, "act")]
    assert (launch.start_ns, launch.host_ns) == (1050.0, 20.0)
    assert (read.start_ns, read.host_ns) == (1090.0, 50.0)
    assert found.end_ns == pytest.approx(1142.5)


def test_the_device_works_for_one_event_after_the_other():
    launch, read = at_pace(film(), {"env": 0.5, "act": 0.25}).moments
    assert launch.device_start_ns == 1070.0
    assert read.device_start_ns == 1130.0


def test_nothing_moves_where_the_pace_is_not_known():
    assert at_pace(film(), {}) == film()


def test_own_code_can_vanish_and_a_step_can_be_empty():
    found = at_pace(film(), {"env": 0.0, "act": 0.0})
    assert found.duration_ns == 70.0
    empty = StepFilm(step=0, start_ns=5.0, end_ns=5.0, crossings=[(5.0, "other")])
    assert at_pace(empty, {"other": 0.5}).duration_ns == 0.0


def test_the_pace_is_what_was_watched_over_what_was_recorded():
    own = OwnTime(
        ms_per_step=3.0,
        low_ms=3.0,
        high_ms=3.0,
        source="watched",
        steps=2,
        by_region={"env": 2.0, "act": 1.0},
    )
    recorded = {"env": RegionTime(host_ns=8e6), "act": RegionTime(host_ns=2e6), "x": RegionTime()}
    assert paces(own, recorded, steps=2) == {"env": 0.5, "act": 1.0}
