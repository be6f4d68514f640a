"""The watch of a real device: its plumbing on the CPU, the rest where there is a GPU."""

from __future__ import annotations

import pytest
import torch

import syncprobe
from syncprobe.errors import SyncprobeError
from syncprobe.recording import cuda
from syncprobe.recording.recorder import Recorder
from syncprobe.simgpu.rules import Placement

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
