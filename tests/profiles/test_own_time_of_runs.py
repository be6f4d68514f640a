"""Own time of runs without steps: short gaps from samples, long ones as measured."""

from __future__ import annotations

import pytest

from syncprobe.events import RegionTime
from syncprobe.profiles.own_time.runs import RunGaps, ShortGaps, sampled
from syncprobe.profiles.own_time.steps import CALL_ERROR_NS


def test_short_gaps_are_worth_what_they_are_in_most_stretches():
    disturbed = (3_000.0,) * 15 + (40_000.0,) * 5
    seen = ((2_000.0,) * 20, disturbed, (2_000.0,) * 20, (9_000.0,) * 20, (2_000.0,) * 20)
    own = sampled({}, RunGaps(short=[ShortGaps("learn", 1_000, seen)], stretches=5))
    assert (own.source, own.steps) == ("sampled", 5)
    assert own.by_region == {"learn": pytest.approx(2.0)}
    error_ms = CALL_ERROR_NS * 1_000 / 1e6
    assert own.low_ms == pytest.approx(2.0 - error_ms)
    assert own.high_ms == pytest.approx(3.0 + error_ms)


def test_counts_weigh_what_stretches_saw_of_each_sort():
    short = [
        ShortGaps("act", 900, ((0.0,), (0.0,))),
        ShortGaps("learn", 100, ((10_000.0,), (10_000.0,))),
    ]
    own = sampled({}, RunGaps(short=short))
    assert own.by_region == {"learn": pytest.approx(1.0)}
    alike = sampled({}, RunGaps(short=short, others=1_000))
    assert alike.by_region == {"learn": pytest.approx(2.0)}


def test_long_gaps_are_as_measured_and_spikes_may_be_the_programs():
    times = {"other": RegionTime(host_ns=5e6, modelled_ns=9e6)}
    gaps = RunGaps(long=100, handover_ns=10_000, spikes_ns=2e6)
    own = sampled(times, gaps)
    assert own.ms_per_step == 5.0
    assert own.low_ms == pytest.approx(5.0 - 0.3)
    assert own.high_ms == pytest.approx(5.0 + 0.3 + 2.0)
