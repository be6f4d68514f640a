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

from syncprobe.clock import SystemClock
from syncprobe.cuda.costs import TwoClocks
from syncprobe.cuda.specs import SPECS
from syncprobe.recording.callsite import CallSiteFinder
from syncprobe.recording.own_time.operator_spans import OperatorSpans, place_of
from syncprobe.recording.recorder import Recorder
from syncprobe.simgpu.device import SimulatedDevice
from syncprobe.simgpu.session import SilentSink

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


WARMUP: Final = 100
ROUNDS: Final = 7
CALLS: Final = 40
MARGIN: Final = 1.2
"""Rather a little too much is taken for the call than for the program's own time."""
FASTEST: Final = 0.5
SLOWEST: Final = 4.0
"""How much faster or slower than at its calibration the machine is believed to be."""


_YARDSTICK: Final = torch.ones(4)


def call_yardstick() -> None:
    """Call the simplest operator on the host some times."""
    for _ in range(CALLS):
        torch.add(_YARDSTICK, _YARDSTICK)


def call_yardstick_unnoticed() -> None:
    """See how fast the machine is, unless the program would notice."""
    if not has_modes():
        call_yardstick()


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

    def allowance_ns(self, yardstick_ns: int) -> int:
        """What a call takes outside of its operator while the machine is as fast as it is now."""
        if has_modes() or not self.yardstick_ns:
            return self.outside_ns
        slowness = yardstick_ns / self.yardstick_ns
        return int(self.outside_ns * min(max(slowness, FASTEST), SLOWEST))


class _GapSink(SilentSink):
    """Measures the time between operations, which a recorder of its own is told, too.

    What it does leaves less room in the caches for the program, as in any recording.
    """

    def __init__(self) -> None:
        self.gaps_ns: list[int] = []
        self._resumed_ns = 0
        self._recorder = Recorder(CallSiteFinder(), SystemClock(), TwoClocks(SPECS["t4"]))

    def pause(self) -> None:
        """An operation begins."""
        self.gaps_ns.append(time.perf_counter_ns() - self._resumed_ns)
        self._recorder.pause()

    def resume(self) -> None:
        """An operation is over."""
        self._recorder.resume()
        self._resumed_ns = time.perf_counter_ns()

    def emit_launch(
        self, operation: str, allocated: int, nbytes: int, flops: int, resumes: bool
    ) -> None:
        """An operation does what most do."""
        self._recorder.emit_launch(operation, allocated, nbytes, flops, resumes)
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
    yardsticks: list[float] = []
    outside: list[list[float]] = [[] for _ in calls]
    handovers: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for kind, call in enumerate(calls):
            handovers_ns.clear()
            yardstick_ns, outside_ns = _measured(call)
            yardsticks.append(yardstick_ns)
            outside[kind].append(outside_ns / max(yardstick_ns, 1))
            handovers[kind].append(statistics.median(handovers_ns or [0]) / max(yardstick_ns, 1))
    usual_ns = statistics.median(yardsticks)
    return CallCost(
        outside_ns=int(MARGIN * max(map(statistics.median, outside)) * usual_ns),
        yardstick_ns=int(usual_ns),
        handover_ns=int(MARGIN * max(map(statistics.median, handovers)) * usual_ns),
    )


def _measured(call: Callable[[int], None]) -> tuple[float, int]:
    """What the yardstick and the call take outside of their operators.

    The yardstick comes before and after: the machine may be faster in one moment than in the next.
    """
    spans = OperatorSpans()
    is_watched = spans.start()
    call_yardstick()
    start_ns = time.perf_counter_ns()
    call(CALLS)
    end_ns = time.perf_counter_ns()
    call_yardstick()
    seen = (spans.stop() if is_watched else None) or ()
    first, last = place_of(seen, start_ns), place_of(seen, end_ns)
    return (median_gap(seen[:first]) + median_gap(seen[last:])) / 2, median_gap(seen[first:last])


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
