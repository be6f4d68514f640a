"""The watch of a real device: its plumbing on the CPU, the rest where there is a GPU."""

from __future__ import annotations

import warnings

import pytest
import torch

import syncprobe
from syncprobe.cuda.rule import Placement
from syncprobe.errors import SyncprobeError
from syncprobe.recording import cuda
from syncprobe.recording.recorder import Recorder

PRETENDED = Placement(
    is_device=lambda value: isinstance(value, torch.Tensor) and value.dtype == torch.float64,
    is_pinned=lambda _: False,
)
"""Doubles play the device, so that the mode can be tried without one."""


def test_without_a_device_the_error_says_what_to_use() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device here")
    with pytest.raises(SyncprobeError, match="--device sim"), syncprobe.record(device="cuda"):
        pass


def test_operators_are_classified_by_the_table(recorder: Recorder) -> None:
    values = torch.ones(4, dtype=torch.float64)
    with cuda.ClassifyingMode(recorder, PRETENDED):
        doubled = values + values
        doubled.view(2, 2)
        doubled[0].item()
    counts = {kind: count for kind, count in recorder.counts.items() if count}
    assert counts == {"allocation": 1, "launch": 1, "scalar_read": 1}
    assert {total.operation for total in recorder.sums} == {
        "aten::add",
        "aten::_local_scalar_dense",
    }


def test_an_operator_that_torch_warns_about_and_the_table_does_not_expect_is_unknown(
    recorder: Recorder,
) -> None:
    values = torch.ones(4, dtype=torch.float64)
    warned: list[warnings.WarningMessage] = []
    library = torch.library.Library("syncprobe_watch", "DEF")
    library.define("waits(Tensor values) -> Tensor")

    def wait(given: torch.Tensor) -> torch.Tensor:
        message = UserWarning(cuda.SYNC_WARNING)
        warned.append(warnings.WarningMessage(message, UserWarning, "f.py", 1))
        return given + 1

    library.impl("waits", wait, "CPU")
    syncprobe.declare_operator("syncprobe_watch::waits")
    try:
        with cuda.ClassifyingMode(recorder, PRETENDED, warned):
            torch.ops.syncprobe_watch.waits(values)
            values.cosh()
    finally:
        library._destroy()
    assert recorder.unknown_operations == {"syncprobe_watch::waits (torch warned of a sync)"}


def test_conversions_are_counted_and_torch_is_put_back(recorder: Recorder) -> None:
    original = torch.tensor
    with cuda.conversions(recorder):
        torch.as_tensor(torch.tensor([1.0, 2.0]))
    assert recorder.counts["conversion"] == 1
    assert torch.tensor is original


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_real_device_sees_the_same_events_as_the_simulated_one() -> None:
    with syncprobe.record(device="cuda") as recording:
        values = torch.tensor([1.0, 2.0], device="cuda")
        (values + values).sum().item()
        torch.cuda.synchronize()
    assert recording.counts["scalar_read"] == 1
    assert recording.counts["explicit_sync"] == 1
    assert recording.counts["copy_to_device"] == 1
