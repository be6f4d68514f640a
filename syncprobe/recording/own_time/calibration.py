"""What a bare call of an operator costs, so that it is not taken for the program's own time.

Between two operators the program has control, but torch works there too: it parses arguments, finds the
implementation, wraps results and frees old ones. On CUDA the same way is part of a launch, and the cost model
pays for it there. So it is measured once per process, in loops that do nothing else, for calls of several
kinds; the dearest kind counts.
"""

from __future__ import annotations

import functools
import statistics
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import torch

from syncprobe.recording.own_time.operator_spans import OperatorSpans
from syncprobe.simgpu.device import SimulatedDevice
from syncprobe.simgpu.session import SilentSink

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


WARMUP: Final = 100
ROUNDS: Final = 7
CALLS: Final = 40
MARGIN: Final = 1.2
"""Rather a little too much is taken for the call than for the program's own time."""


_YARDSTICK: Final = torch.ones(4)


def call_yardstick() -> None:
    """Call the simplest operator on the host some times."""
    for _ in range(CALLS):
        torch.add(_YARDSTICK, _YARDSTICK)


def has_modes() -> bool:
    """The program listens to operators itself, and would hear the yardstick."""
    return bool(torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack())


@dataclass(frozen=True, slots=True)
class CallCost:
    """Host time of a bare call, in nanoseconds."""

    outside_ns: int
    """Outside of the operator, as torch's profiler sees it."""
    yardstick_ns: int
    """The same for the simplest call on the host at that time: it tells how fast the machine was."""
    handover_ns: int = 0
    """Outside of the simulation, as the recorder sees it: most of it is torch on its way there."""


class _GapSink(SilentSink):
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


@functools.cache
def simulated_call() -> CallCost:
    """A call on the simulated device."""
    sink = _GapSink()
    with SimulatedDevice(sink):
        return _dearest("cuda", sink.gaps_ns)


@functools.cache
def host_call() -> CallCost:
    """A call on the host."""
    return _dearest("cpu", [])


def _dearest(device: str, handovers_ns: list[int]) -> CallCost:
    values = torch.ones(4, device=device)
    parameter = torch.ones(4, device=device, requires_grad=True)
    calls = [_scaled(values), _added(values), _added(parameter)]
    for call in calls:
        call(WARMUP)
    # The kinds take turns with the yardstick: the machine may be faster in one moment than in the next.
    slowness, handovers, yardsticks = [], [], []
    for _ in range(ROUNDS):
        yardsticks.append(_outside(call_yardstick))
        measured = [_measured(call, handovers_ns) for call in calls]
        slowness.append(max(outside for outside, _ in measured) / max(yardsticks[-1], 1))
        handovers.append(max(handover for _, handover in measured))
    yardstick_ns = statistics.median(yardsticks)
    return CallCost(
        outside_ns=int(MARGIN * statistics.median(slowness) * yardstick_ns),
        yardstick_ns=int(yardstick_ns),
        handover_ns=int(MARGIN * statistics.median(handovers)),
    )


def _measured(call: Callable[[int], None], handovers_ns: list[int]) -> tuple[int, int]:
    """Time outside of the operator, and outside of the simulation."""
    handovers_ns.clear()
    outside = _outside(functools.partial(call, CALLS))
    return outside, int(statistics.median(handovers_ns or [0]))


def _outside(call: Callable[[], None]) -> int:
    spans = OperatorSpans()
    is_watched = spans.start()
    call()
    return median_gap((spans.stop() if is_watched else None) or ())


def _scaled(values: torch.Tensor) -> Callable[[int], None]:
    def call(times: int) -> None:
        result = values
        for _ in range(times):
            result = result * 1.0

    return call


def _added(values: torch.Tensor) -> Callable[[int], None]:
    def call(times: int) -> None:
        for _ in range(times):
            torch.add(values, values)

    return call


def median_gap(spans: Sequence[tuple[int, int]]) -> int:
    """The time that usually passes between two operators."""
    gaps = [after[0] - before[1] for before, after in pairwise(spans)]
    return int(statistics.median(gaps or [0]))
