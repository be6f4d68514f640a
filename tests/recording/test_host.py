"""Recording without a device: conversions are all there is to see."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import syncprobe


def test_conversions_are_counted_and_nothing_else() -> None:
    with syncprobe.record(device="cpu") as recording:
        values = torch.tensor([1.0, 2.0]) + torch.from_numpy(np.ones(2))
        torch.as_tensor(values)
        torch.FloatTensor([3.0])
        values.sum().item()
    counts = {kind: count for kind, count in recording.counts.items() if count}
    assert counts == {"conversion": 3}
    assert recording.syncs == 0


def test_there_is_still_no_cuda_device() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device here")
    with syncprobe.record(device="cpu"):
        assert not torch.cuda.is_available()
        with pytest.raises((RuntimeError, AssertionError)):
            torch.ones(2, device="cuda")


def test_no_time_is_modelled() -> None:
    with syncprobe.record(device="cpu") as recording:
        torch.tensor([1.0])
    profile = recording.profile()
    assert profile.time.modelled_ms_per_step is None
    assert profile.ceiling == ()
