"""A DQN loop that reads 40 values per step against the same that reads 6: never slower."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from torch import nn

import syncprobe
from syncprobe.comparison.side_by_side import compare
from syncprobe.profiles.model import Profile
from tests.model.report import busy_neighbours

REPETITIONS = 10
BATCH = 32


def train(reads: int, steps: int = 14) -> Profile:
    """Learn from made-up transitions, and look at single values of the batch."""
    with syncprobe.record(device="sim") as recording:
        network = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2)).to("cuda")
        optimizer = torch.optim.SGD(network.parameters(), lr=1e-3)
        states, rewards = torch.randn(BATCH, 4), torch.randn(BATCH)
        for _ in range(steps):
            syncprobe.step()
            values = network(states.to("cuda")).max(dim=1).values
            errors = (values - rewards.to("cuda")).abs()
            seen = [errors[place % BATCH].item() for place in range(reads)]
            assert len(seen) == reads
            optimizer.zero_grad()
            errors.mean().backward()
            optimizer.step()
    return recording.profile()


def check(repetitions: int) -> None:
    for _ in range(repetitions):
        comparison = compare(train(40), train(6))
        saved = comparison.events_ms.before - comparison.events_ms.after
        # 34 reads of 10 us; the first one of a step also waits for what the device has still to do.
        assert saved == pytest.approx(34 * 0.010, rel=0.05)
        times = {change.name: change for change in comparison.time}
        modelled = times["modelled_ms_per_step"]
        assert modelled.before is not None
        assert modelled.after is not None
        # All of it counts, whatever own code takes on this machine: that is the same, or less where less is read.
        assert modelled.before - modelled.after >= 0.95 * saved
        back = compare(comparison.after, comparison.before)
        assert back.after.time.modelled_ms_per_step > back.before.time.modelled_ms_per_step


@pytest.mark.slow  # ten recordings
def test_fewer_reads_are_faster_every_time():
    check(REPETITIONS)


def test_fewer_reads_are_faster_beside_busy_processes():
    with busy_neighbours():
        check(2)


@pytest.mark.measured
@pytest.mark.parametrize("neighbours", [nullcontext, busy_neighbours])
def test_the_same_program_is_neither_faster_nor_slower(neighbours):
    before = train(6)
    with neighbours():
        after = train(6)
    comparison = compare(before, after)
    assert comparison.own is not None
    assert not comparison.own.is_decided
    assert comparison.after.time.modelled_ms_per_step == pytest.approx(
        comparison.before.time.modelled_ms_per_step, rel=0.02
    )
