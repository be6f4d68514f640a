"""What it costs to get from the program into the simulation and back, which a real device would not.

Between two operations the recorder measures host time. Part of that is torch on its way to the simulation:
parsing arguments, finding the Python dispatch, coming back. On CUDA the same way is short, and the cost
model pays for it with the launch. So it is measured once per process, in a loop that does nothing else, and
taken off again.
"""

from __future__ import annotations

import functools
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

import torch

from syncprobe.simgpu.device import SimulatedDevice

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from syncprobe.events import EventKind

WARMUP: Final = 100
OPERATIONS: Final = 400


class _GapSink:
    """Measures the time between operations and ignores what they are."""

    def __init__(self) -> None:
        self.gaps_ns: list[int] = []
        self._resumed_ns = 0

    def pause(self) -> None:
        """An operation begins."""
        self.gaps_ns.append(time.perf_counter_ns() - self._resumed_ns)

    def resume(self) -> None:
        """An operation is over."""
        self._resumed_ns = time.perf_counter_ns()

    def emit(
        self,
        kind: EventKind,
        operation: str,
        *,
        is_blocking: bool = False,
        nbytes: int = 0,
        flops: int = 0,
    ) -> None:
        """What happened does not matter here."""

    def emit_launch(self, operation: str, allocated: int, nbytes: int, flops: int) -> None:
        """Nor that something was launched."""

    def charged_to_caller(self) -> AbstractContextManager[None]:
        """Nothing is charged to anybody."""
        return nullcontext()

    def unknown_operation(self, operation: str) -> None:
        """What is unknown does not matter either."""


@functools.cache
def handover_ns() -> int:
    """Host time per operation that is the simulation's and not the program's.

    The lower quartile: on a busy machine rather too little is taken off than too much.
    """
    sink = _GapSink()
    with SimulatedDevice(sink), torch.no_grad():
        values = torch.ones(4, device="cuda")
        for _ in range(WARMUP + OPERATIONS):
            torch.add(values, values)
    gaps = sorted(sink.gaps_ns[-OPERATIONS:])
    return gaps[len(gaps) // 4]
