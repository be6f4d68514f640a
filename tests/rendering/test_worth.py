"""Where the time goes: shares that add up, lines put together, syncs by class."""

from __future__ import annotations

import pytest

from syncprobe.analysis.model import SyncClass, Time
from syncprobe.events import EventKind
from syncprobe.rendering.worth import costly_lines, sync_classes, top_finding, worth_of
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


def test_top_finding_is_the_dearest_that_is_not_excused():
    cheap, dear = factories.finding(cost_us_modelled=1.0), factories.finding(cost_us_modelled=2.0)
    excused = factories.finding(cost_us_modelled=3.0, is_allowed=True)
    assert top_finding(factories.profile(findings=(cheap, excused, dear))) == dear
    assert top_finding(factories.profile(findings=(excused,))) is None
