"""Stretches of runs without steps: watched now and then, forgotten if steps begin, and never in the way."""

from __future__ import annotations

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

import syncprobe
from syncprobe.recording.own_time import stretches
from syncprobe.recording.own_time.stretches import COLD, FIRST, LENGTH
from syncprobe.recording.session import Recording

INSIDE = FIRST + COLD + LENGTH // 2
"""So many operations end in the middle of the first stretch."""


def call(times: int) -> None:
    values = torch.ones(4, device="cuda")
    for _ in range(times):
        values = values * 1.0


def is_watching() -> bool:
    return bool(torch.autograd._profiler_enabled())


def test_a_run_without_steps_is_sampled_and_the_profiler_is_off_after_it():
    with syncprobe.record(device="sim") as recording:
        call(INSIDE)
        assert is_watching()
    assert not is_watching()
    own = recording.profile().time.own
    assert (own.source, own.steps) == ("sampled", 1)


def test_a_stretch_begins_where_the_operator_is_over_in_which_the_last_one_ended(monkeypatch):
    """The profiler would write the end of that operator to memory that it has freed."""
    monkeypatch.setattr(stretches, "GROWTH", 1.0)
    with syncprobe.record(device="sim"):
        values = torch.ones(4, 4, device="cuda")
        for _ in range(FIRST + 4 * (COLD + LENGTH)):
            torch.nn.functional.layer_norm(values, (4,))
        assert not is_watching(), "it calls others: nobody knows whether the last one is over"
        torch.ones(4, device="cuda").sum()
        assert is_watching()


def test_a_loop_over_one_operator_is_sampled_more_than_once():
    with syncprobe.record(device="sim") as recording:
        call(20 * (COLD + LENGTH))
    assert recording.profile().time.own.steps >= 5
    with syncprobe.record(device="sim") as recording, torch.autograd.forward_ad.dual_level():
        call(20 * (COLD + LENGTH))
    assert recording.profile().time.own.steps == 1, "an operator may have tangents to work out"


def test_a_short_run_cannot_be_sampled():
    with syncprobe.record(device="sim") as recording:
        call(FIRST // 2)
    assert recording.profile().time.own.source == "calibrated"


def test_a_program_that_raises_leaves_no_profiler_behind():
    def fail() -> None:
        with syncprobe.record(device="sim"):
            call(INSIDE)
            assert is_watching()
            raise ValueError("ours")

    with pytest.raises(ValueError, match="ours"):
        fail()
    assert not is_watching()


def test_stretches_are_forgotten_when_steps_begin():
    with syncprobe.record(device="sim") as recording:
        call(INSIDE)
        syncprobe.step()
        assert not is_watching()
        for _ in range(8):
            syncprobe.step()
            call(4)
    assert recording.profile().time.own.source == "watched"


def test_a_program_may_begin_to_use_the_profiler_in_a_stretch():
    with syncprobe.record(device="sim"):
        call(INSIDE)
        with profile(activities=[ProfilerActivity.CPU]) as seen:
            call(LENGTH)
            assert is_watching()
    names = [event.name for event in seen.events()]
    assert names.count("aten::mul") >= LENGTH
    assert not is_watching()


def test_a_stretch_that_is_due_in_a_backward_pass_waits_for_its_end() -> None:
    with syncprobe.record(device="sim") as recording:
        weight = torch.ones(4, device="cuda", requires_grad=True)
        for _ in range(3):
            value = weight
            for _ in range(FIRST):
                value = value * 1.0
            value.sum().backward()
    assert not is_watching()
    assert recording.profile().time.own.source == "sampled"


def test_an_optimizer_that_steps_in_the_backward_pass_leaves_no_profiler_behind() -> None:
    with Recording(device="sim", step_on="auto"):
        model = torch.nn.Linear(4, 4, device="cuda")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.weight.register_post_accumulate_grad_hook(lambda _: optimizer.step())
        for _ in range(2 * FIRST):
            model(torch.ones(2, 4, device="cuda")).sum().backward()
    assert not is_watching()
