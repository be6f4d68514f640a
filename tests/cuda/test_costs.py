"""The cost model: two clocks, moved by events whose cost can be worked out by hand."""

from __future__ import annotations

import pytest

from syncprobe.cuda.costs import TwoClocks
from syncprobe.cuda.specs import SPECS, DeviceSpec
from syncprobe.errors import UnknownNameError
from syncprobe.events import EventKind

ROUND = DeviceSpec(
    name="round",
    title="round figures",
    memory_gb_per_s=100,
    fp32_tflops=1,
    pinned_gb_per_s=10,
    pageable_gb_per_s=1,
    memory_gib=1,
    launch_us=5,
    kernel_floor_us=4,
    copy_us=10,
    synchronize_us=1,
    achievable=0.5,
)


@pytest.fixture
def clocks() -> TwoClocks:
    return TwoClocks(ROUND)


def event(
    clocks: TwoClocks, kind: EventKind, *, is_blocking: bool = False, nbytes: int = 0
) -> float:
    host_ns, _, _ = clocks.event(kind, is_blocking, nbytes, 0)
    return host_ns / 1e3


def test_a_launch_costs_the_host_its_overhead_and_the_device_its_kernel(clocks: TwoClocks) -> None:
    assert event(clocks, EventKind.LAUNCH) == 5
    assert clocks.host_ns == 5_000
    assert clocks.device_ns == 9_000


def test_kernels_are_bound_by_latency_memory_or_arithmetic() -> None:
    assert ROUND.kernel_ns(0, 0) == 4_000
    assert ROUND.kernel_ns(1_000_000, 0) == 20_000, "a megabyte at 50 GB/s"
    assert ROUND.kernel_ns(0, 10_000_000) == 20_000, "ten megaflop at 0.5 TFLOPS"


def test_a_read_of_an_idle_device_costs_only_the_transfer(clocks: TwoClocks) -> None:
    clocks.host(100_000)
    assert event(clocks, EventKind.SCALAR_READ, is_blocking=True) == 10


def test_a_read_of_a_busy_device_waits_for_all_queued_work(clocks: TwoClocks) -> None:
    for _ in range(3):
        event(clocks, EventKind.LAUNCH, nbytes=5_000_000)
    # The device starts at 5 us and works 3 x 100 us; the host has issued all by 15 us.
    host_ns, stall_ns, _ = clocks.event(EventKind.SCALAR_READ, True, 0, 0)
    assert host_ns == stall_ns == 290_000 + 10_000


def test_an_asynchronous_copy_leaves_the_host_running(clocks: TwoClocks) -> None:
    assert event(clocks, EventKind.COPY_TO_DEVICE, nbytes=1_000_000) == 5
    assert clocks.device_ns == 5_000 + 10_000 + 100_000


def test_a_pageable_copy_holds_the_host(clocks: TwoClocks) -> None:
    assert event(clocks, EventKind.COPY_TO_DEVICE, is_blocking=True, nbytes=1_000_000) == 1010


def test_conversions_and_allocations_cost_nothing_beyond_host_time(clocks: TwoClocks) -> None:
    assert event(clocks, EventKind.CONVERSION) == 0
    assert event(clocks, EventKind.ALLOCATION, nbytes=1 << 20) == 0


def test_busy_time_never_exceeds_elapsed_time_when_the_host_waits(clocks: TwoClocks) -> None:
    busy_ns = 0.0
    for _ in range(50):
        busy_ns += clocks.event(EventKind.LAUNCH, False, 100_000, 0)[2]
        busy_ns += clocks.event(EventKind.SCALAR_READ, True, 4, 0)[2]
    assert 0 < busy_ns <= clocks.host_ns


@pytest.mark.parametrize("name", list(SPECS))
def test_specs_are_plausible(name: str) -> None:
    spec = SPECS[name]
    assert spec.name == name
    assert spec.pageable_gb_per_s < spec.pinned_gb_per_s < spec.memory_gb_per_s


def test_an_unknown_spec_is_suggested() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'a100'"):
        SPECS["a10"]
