from __future__ import annotations

from collections.abc import Callable

import pytest

from syncprobe.events import EventKind, EventSum, RegionTime
from syncprobe.profiles import aggregate
from syncprobe.profiles.aggregate import RegionFacts

Make = Callable[..., EventSum]


def test_ways_to_reach_a_line_are_one_site_with_callers(event_sum: Make) -> None:
    sums = [event_sum(caller=1, count=2), event_sum(caller=2, count=6), event_sum(line=11)]
    first, second = aggregate.sites_of(sums, steps=4)
    assert (first.site.line, first.count, first.per_step) == (10, 8, 2.0)
    assert [(caller.stack[0].line, caller.count) for caller in first.callers] == [(2, 6), (1, 2)]
    assert second.site.line == 11


def test_callers_in_the_steps_come_before_those_of_what_follows(event_sum: Make) -> None:
    sums = [event_sum(caller=1, count=20, in_steps=0), event_sum(caller=2, count=6)]
    (site,) = aggregate.sites_of(sums, steps=3)
    assert [caller.stack[0].line for caller in site.callers] == [2, 1]


def test_sites_come_dearest_first_and_then_in_source_order(event_sum: Make) -> None:
    sums = [
        event_sum(line=30),
        event_sum(line=20),
        event_sum(line=40, host_ns=5e3),
        event_sum(line=50, count=3),
    ]
    assert [site.site.line for site in aggregate.sites_of(sums, steps=1)] == [40, 50, 20, 30]


def test_totals_name_every_kind(event_sum: Make) -> None:
    counts = aggregate.totals([event_sum(EventKind.LAUNCH, count=3)])
    assert counts == {str(kind): 3 if kind == "launch" else 0 for kind in EventKind}


def test_rates_count_syncs_and_bytes_by_direction(event_sum: Make) -> None:
    sums = [
        event_sum(EventKind.SCALAR_READ, count=4, nbytes_in_steps=16),
        event_sum(EventKind.COPY_TO_HOST, count=2, nbytes_in_steps=100),
        event_sum(EventKind.COPY_TO_DEVICE, count=2, nbytes_in_steps=80),
        event_sum(EventKind.COPY_TO_DEVICE, count=2, nbytes_in_steps=20, is_blocking=False),
        event_sum(EventKind.LAUNCH, count=10, nbytes_in_steps=10_000),
    ]
    rates = aggregate.rates(sums, steps=2)
    assert rates["syncs"] == 4.0
    assert rates["copy_to_device"] == 2.0
    assert rates["launch"] == 5.0
    assert rates["bytes_to_host"] == 58.0
    assert rates["bytes_to_device"] == 50.0


def test_set_up_outside_steps_is_not_in_the_rates(event_sum: Make) -> None:
    rates = aggregate.rates([event_sum(count=10, in_steps=4)], steps=4)
    assert rates["scalar_read"] == 1.0


def test_without_steps_rates_are_per_run(event_sum: Make) -> None:
    rates = aggregate.rates([event_sum(count=10, in_steps=0)], steps=0)
    assert rates["scalar_read"] == 10.0


def test_regions_carry_their_own_events_and_both_times(event_sum: Make) -> None:
    facts = RegionFacts(
        modelled={"act": RegionTime(host_ns=1e6, modelled_ns=4e6)},
        own_ms={"act": 0.25},
        measured_ms={"env": 7.5},
        has_model=True,
    )
    regions = aggregate.regions_of([event_sum(region="act", count=6)], 2, facts)
    assert regions["act"].per_step["syncs"] == 3.0
    assert regions["act"].modelled_ms_per_step == 1.75
    assert regions["act"].measured_ms_per_step is None
    assert regions["env"].measured_ms_per_step == 7.5
    assert regions["env"].modelled_ms_per_step == 0.0


def test_the_ceiling_says_when_syncs_are_small_change(event_sum: Make) -> None:
    """Three percent for syncs, eighty for the environment: the report must be able to say so."""
    sums = [
        event_sum(EventKind.SCALAR_READ, host_ns=0.3e6, stall_ns=0.3e6),
        event_sum(EventKind.LAUNCH, line=20, host_ns=1.7e6),
    ]
    facts = RegionFacts(
        modelled={"env": RegionTime(modelled_ns=8e6), "act": RegionTime(modelled_ns=2e6)},
        has_model=True,
    )
    regions = aggregate.regions_of(sums, 1, facts)
    entries = aggregate.ceilings(aggregate.sites_of(sums, 1), regions, step_ms=10.0)
    found = {entry.what: entry for entry in entries}
    assert found["all syncs"].share == pytest.approx(0.03)
    assert found["all syncs"].speedup_if_free == pytest.approx(1 / 0.97, rel=1e-5)
    assert found["all launches"].share == pytest.approx(0.17)
    assert found["region env"].speedup_if_free == pytest.approx(5.0)
    assert found["line agent.py:20"].share == pytest.approx(0.17)


def test_no_model_no_ceiling(event_sum: Make) -> None:
    assert aggregate.ceilings(aggregate.sites_of([event_sum()], 1), {}, None) == ()
