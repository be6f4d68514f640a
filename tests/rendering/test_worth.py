"""Where the time goes: shares that add up, lines put together, syncs by class."""

from __future__ import annotations

from dataclasses import replace

import pytest

from syncprobe.events import EventKind
from syncprobe.profiles.model import SyncClass, Time
from syncprobe.rendering.answer.worth import sync_classes, worth_of
from syncprobe.rendering.lines.costly import costly_lines
from tests.rendering import factories


def test_shares_of_the_device_and_the_host_make_up_the_step():
    worth = worth_of(factories.profile())
    assert worth.syncs == pytest.approx(0.30)
    assert worth.launches == pytest.approx(0.10)
    assert worth.traffic + sum(worth.host.values()) == pytest.approx(1.0)


def test_host_shares_leave_out_what_the_device_costs():
    worth = worth_of(factories.profile())
    assert list(worth.host) == ["env", "act", "learn"]
    assert worth.host["act"] == pytest.approx(0.05)


def test_a_copy_that_does_not_block_is_neither_sync_nor_launch():
    copy = factories.site(
        EventKind.COPY_TO_DEVICE, is_blocking=False, stall_us_modelled=0.0, us=100.0
    )
    worth = worth_of(factories.profile(sites=(copy,)))
    assert (worth.syncs, worth.launches) == (0.0, 0.0)
    assert worth.copies == pytest.approx(0.05)


def test_nothing_is_worth_anything_without_modelled_time():
    assert worth_of(factories.profile(time=Time())) is None


def test_one_line_is_put_together_from_all_its_kinds():
    lines = {line.site.line: line for line in costly_lines(factories.profile())}
    assert lines[38].cost_us == 180.0
    assert lines[38].rates == {EventKind.COPY_TO_DEVICE: 15, EventKind.CONVERSION: 15}


def test_needed_reads_are_taken_out_of_their_site():
    classes = sync_classes(factories.profile())
    assert classes == {SyncClass.NEEDED: 1, SyncClass.DEFERRABLE: 0.25, SyncClass.AVOIDABLE: 19}


def test_lines_of_host_code_are_ranked_with_the_lines_that_sync():
    spots = (
        factories.hot_spot(line=5, function="get_velocity", share=0.25),
        factories.hot_spot(line=41, share=0.05),
    )
    profile = factories.profile(hot_spots=spots)
    found = costly_lines(profile)
    # Own code is 60 % of 2 ms.
    assert [(line.site.line, round(line.cost_us), round(line.own_us)) for line in found[:3]] == [
        (41, 460, 60),
        (5, 300, 300),
        (40, 200, 0),
    ]
    assert found[1].rates == {}
    assert found[1].share == pytest.approx(0.15)


def test_a_line_is_ranked_only_where_its_function_is_not():
    function = factories.hot_spot(line=1, is_function=True, share=0.9)
    line = factories.hot_spot(line=5, share=0.5)
    lines = {each.site.line for each in costly_lines(factories.profile(hot_spots=(function, line)))}
    assert 1 in lines
    assert 5 not in lines
    assert costly_lines(factories.profile(hot_spots=(line,)))[0].site.line == 5


def test_own_time_that_was_watched_is_what_shares_of_host_code_are_of():
    time = replace(factories.profile().time, own=factories.own_time(4.0))
    profile = factories.profile(hot_spots=(factories.hot_spot(line=5, share=0.5),), time=time)
    assert costly_lines(profile)[0].own_us == 2000.0


def test_bounds_of_own_time_are_bounds_of_what_the_device_is_worth():
    time = replace(factories.profile().time, own=factories.own_time(1.2, low=0.2, high=7.2))
    worth = worth_of(factories.profile(time=time))
    assert worth.least == pytest.approx(0.1)
    assert worth.most == pytest.approx(0.8)


def test_rates_of_many_ways_add_up_to_what_was_counted():
    """Each is kept to six places: 2/3 of 51 launches is 34."""
    many = tuple(
        factories.site(
            EventKind.LAUNCH, path="train.py", line=8, per_step=0.666667, operation=f"aten::op{n}"
        )
        for n in range(51)
    )
    (line,) = costly_lines(factories.profile(sites=many))
    assert line.rates == {EventKind.LAUNCH: 34.0}
