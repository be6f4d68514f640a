"""Tests that are run by tests/test_pytest_plugin.py in a pytest of their own; some are meant to fail."""

import unittest

import pytest
import torch

import syncprobe as probe
from syncprobe.recording import marks


def read_each(values):
    total = 0.0
    for value in values:
        total += value.item()
    return total


def steps(work, count=3):
    for _ in range(count):
        with probe.step():
            work()


@pytest.fixture
def three():
    yield torch.tensor([1.0, 2.0, 3.0])
    torch.tensor([1.0])


@pytest.mark.syncprobe(conversions=0)
def test_setup_and_teardown_of_fixtures_do_not_count(three):
    assert three.sum() == 6


@pytest.mark.syncprobe(syncs=1, launches=1, bytes_to_host=12)
def test_within_limits():
    values = torch.ones(3, device="cuda")

    def read_together():
        return (values + 1).tolist()

    steps(read_together)


@pytest.mark.syncprobe(syncs=1)
def test_over_per_step():
    values = torch.ones(3, device="cuda")
    read_each(values)
    steps(lambda: read_each(values))


@pytest.mark.syncprobe(syncs=11, per="test")
def test_over_in_total():
    values = torch.ones(3, device="cuda")
    read_each(values)
    steps(lambda: read_each(values))


@pytest.mark.syncprobe(syncs=12, bytes_to_host=48, per="test")
def test_within_in_total():
    values = torch.ones(3, device="cuda")
    read_each(values)
    steps(lambda: read_each(values))


@pytest.mark.syncprobe(scalar_reads=2)
def test_without_steps_limits_are_totals():
    read_each(torch.ones(3, device="cuda"))


@pytest.mark.syncprobe(bytes_to_host=11, avoidable=0)
def test_over_in_two_ways():
    read_each(torch.ones(3, device="cuda"))


@pytest.mark.syncprobe(syncs=0, per="step")
def test_per_step_without_steps():
    pass


@pytest.mark.syncprobe(syncs=0)
def test_own_error_comes_first():
    read_each(torch.ones(3, device="cuda"))
    raise KeyError("own")


@pytest.mark.syncprobe(syncs=0)
def test_excused():
    value = torch.ones((), device="cuda")
    return_code = int(value.item())  # syncprobe: allow[SP100] the exit code is wanted now
    assert return_code == 1


@pytest.mark.syncprobe(syncs=0)
def test_skipped_inside():
    pytest.skip("not today")


@pytest.mark.xfail(reason="known", strict=True)
@pytest.mark.syncprobe(syncs=0)
def test_expected_to_be_over():
    read_each(torch.ones(3, device="cuda"))


@pytest.mark.syncprobe(syncs=1)
@pytest.mark.parametrize("count", [1, 2])
def test_parametrised(count):
    read_each(torch.ones(count, device="cuda"))


@pytest.mark.syncprobe(syncs=1)
class TestMarkedClass:
    def test_held_to_the_class(self):
        read_each(torch.ones(2, device="cuda"))

    @pytest.mark.syncprobe(syncs=2)
    def test_held_to_its_own(self):
        read_each(torch.ones(2, device="cuda"))


@pytest.mark.syncprobe(syncs=1)
class TestUnit(unittest.TestCase):
    def setUp(self):
        self.values = torch.ones(2, device="cuda")

    def test_over(self):
        read_each(self.values)

    def test_within(self):
        read_each(self.values[:1])

    def test_own_failure_comes_first(self):
        read_each(self.values)
        self.fail("own")


@pytest.mark.syncprobe
def test_recording_inside_a_recording():
    with probe.record(device="sim"):
        pass


def test_fixture(syncprobe):
    values = torch.ones(2, device="cuda")
    with syncprobe.step(), syncprobe.region("act"):
        read_each(values)
    assert syncprobe.syncs == syncprobe.counts["scalar_read"] == 2
    assert syncprobe.profile().regions["act"].per_step["syncs"] == 2
    syncprobe.check(syncs=2, per="step")
    syncprobe.check(syncs=2, per="test")
    with pytest.raises(AssertionError, match=r"scalar_read: 2 per step, at most 1 allowed"):
        syncprobe.check(scalar_reads=1)


def test_fixture_over(syncprobe):
    read_each(torch.ones(2, device="cuda"))
    syncprobe.check(syncs=1)


@pytest.fixture
def weights(syncprobe):
    return torch.ones(2, device="cuda")


def test_device_is_there_for_fixtures_that_ask_for_the_recording(weights, syncprobe):
    read_each(weights)
    assert syncprobe.syncs == 2


@pytest.mark.syncprobe(syncs=1)
def test_marker_and_fixture_share_a_recording(request, syncprobe):
    assert request.getfixturevalue("syncprobe") is syncprobe
    syncprobe.step()
    read_each(torch.ones(2, device="cuda"))


@pytest.mark.syncprobe(syncs=2)
def test_marker_shares_with_a_fixture_asked_for_late(request):
    read_each(torch.ones(2, device="cuda"))
    assert request.getfixturevalue("syncprobe").syncs == 2


def test_torch_is_left_as_it_was_found():
    assert marks.active() is None
    assert not torch.cuda.is_available()
    assert not torch._C._len_torch_function_stack()
