"""A simulated device that nobody listens to: programs for CUDA run, and nothing is recorded."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


def silent_device(device: str) -> AbstractContextManager[object]:
    """What a program needs around it that is recorded on ``device`` but runs for another reason."""
    if device != "sim":
        return nullcontext()
    from syncprobe.simgpu import SimulatedDevice  # torch is imported only to run something
    from syncprobe.simgpu.session import SilentSink

    return SimulatedDevice(SilentSink())
