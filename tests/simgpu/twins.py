"""Programs run twice, on the CPU and on the simulated device, and held to the same bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from syncprobe.simgpu import SimulatedDevice

if TYPE_CHECKING:
    from collections.abc import Callable

    from syncprobe.events import Sink

Tensors = list[torch.Tensor]


def assert_same_values(program: Callable[[str], Tensors], sink: Sink) -> None:
    """Run a program, given the name of its device, on both sides under one seed."""
    expected = _values(program, "cpu")
    with SimulatedDevice(sink):
        found = _values(program, "cuda")
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == theirs.dtype
        assert torch.equal(ours, theirs)


def _values(program: Callable[[str], Tensors], device: str) -> Tensors:
    torch.manual_seed(0)
    return [tensor.detach().cpu().clone() for tensor in program(device)]
