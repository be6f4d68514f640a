"""Own code is what the program does itself: not the recorder, not CPU kernels, not other processes."""

from __future__ import annotations

import statistics
import time

import pytest
import torch

import syncprobe
from tests.model.compositions import LARGE, Composition, record, truth
from tests.model.report import busy_neighbours, limit_us

pytestmark = pytest.mark.measured

SAMPLE = [
    Composition(0, 1, 10),
    Composition(0, 50, 10),
    Composition(0, 500, 0),
    Composition(200, 50, 0),
    Composition(2_000, 50, 10, nbytes=400_000),
    Composition(2_000, 500, 10),
    Composition(2_000, 50, 10, elements=LARGE),
    Composition(20_000, 50, 0),
]


@pytest.fixture
def busy_processes():
    with busy_neighbours():
        yield


def check(composition: Composition) -> None:
    """The middle one of three runs; the whole grid has a report of its own."""
    true = truth(composition)
    found = sorted((record(composition) for _ in range(3)), key=lambda run: run.own_us)[1]
    assert found.own_us == pytest.approx(composition.spin_us, abs=limit_us(composition))
    assert found.share == pytest.approx(true.share, abs=0.05)


@pytest.mark.parametrize("composition", SAMPLE, ids=lambda each: each.label)
def test_own_code_and_its_share_are_what_they_are(composition):
    check(composition)


@pytest.mark.parametrize("composition", SAMPLE[1:6:2], ids=lambda each: each.label)
@pytest.mark.usefixtures("busy_processes")
def test_the_same_beside_busy_processes(composition):
    check(composition)


@pytest.mark.parametrize("composition", SAMPLE[2:4], ids=lambda each: each.label)
def test_five_runs_agree(composition):
    runs = [record(composition) for _ in range(5)]
    assert len({run.answer for run in runs}) == 1
    middle = statistics.median(run.step_us for run in runs)
    assert all(run.step_us == pytest.approx(middle, rel=0.1) for run in runs)


def test_making_a_tensor_of_a_list_is_own_code():
    numbers = [0.5] * 50_000
    plain = []
    with syncprobe.record(device="sim") as recording:
        for _ in range(12):
            # In turns: the machine may be faster in one moment than in the next.
            before_ns = time.thread_time_ns()
            torch.tensor(numbers)
            plain.append(time.thread_time_ns() - before_ns)
            with syncprobe.step():
                torch.tensor(numbers, device="cuda")
    own_ms = recording.profile().time.own.ms_per_step
    assert own_ms == pytest.approx(statistics.median(plain) / 1e6, rel=0.4)
