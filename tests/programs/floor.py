"""What a small operator costs, layer by layer: how much of the overhead is torch's own way into Python.

Run it from the root of the repository: ``python -m tests.programs.floor``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

import torch

import syncprobe
from syncprobe.clock import SystemClock
from syncprobe.cuda.costs import TwoClocks
from syncprobe.cuda.specs import SPECS
from syncprobe.recording.callsite import CallSiteFinder, Memo
from syncprobe.recording.recorder import Recorder
from syncprobe.simgpu import SimulatedDevice
from syncprobe.simgpu.host_calls import host_call
from syncprobe.simgpu.session import SilentSink
from syncprobe.simgpu.tensors.memory import Block, Memory
from syncprobe.simgpu.tensors.tensor import wrap

CALLS = 100
ROUNDS = 120
MEANING = (
    "\n## Where the overhead is\n\n"
    "Processor time of `torch.add` on 8 x 8 values, the fastest of many rounds: noise only adds. Programs of large "
    "operators see little of it; in programs of small ones it is the overhead.\n"
)
PARTS = "\nThe parts of it that are not torch's way into Python, each called by itself:\n"
KINDS = "\nOther calls on tensors of that size; a step that is watched for own time is dearer:\n"
ROW = "| {} | {:.1f} |"
KIND_ROW = "| {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |"

Call = Callable[[], object]


class Dispatched(torch.Tensor):
    """Does nothing but go through Python, as every tensor subclass with a dispatch function must."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return ANSWER


class Computed(Dispatched):
    """Computes on the host and wraps the result: the least that a simulated device has to do."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return wrapped(cls, ADD(args[0].inner, args[1].inner))


def wrapped(kind: type[torch.Tensor], inner: torch.Tensor) -> torch.Tensor:
    outer = torch.Tensor._make_wrapper_subclass(kind, inner.shape, dtype=inner.dtype)
    outer.inner = inner
    return outer


ANSWER = torch.ones(8, 8)
ADD = host_call(torch.ops.aten.add.Tensor)


def microseconds(call: Call, calls: int = CALLS, rounds: int = ROUNDS) -> float:
    best = float("inf")
    for _ in range(rounds):
        before = time.thread_time_ns()
        for _ in range(calls):
            call()
        best = min(best, time.thread_time_ns() - before)
    return best / calls / 1e3


def layers() -> Iterator[tuple[str, float]]:
    """Each layer with all those above it."""
    host = torch.ones(8, 8)
    yield "on the CPU", microseconds(lambda: torch.add(host, host))
    bare = wrapped(Dispatched, host)
    yield "into Python and back, nothing computed", microseconds(lambda: torch.add(bare, bare))
    least = wrapped(Computed, host)
    yield "computed there, and wrapped", microseconds(lambda: torch.add(least, least))
    with SimulatedDevice(SilentSink()):
        silent = torch.ones(8, 8, device="cuda")
        yield (
            "on the simulated device, not recorded",
            microseconds(lambda: torch.add(silent, silent)),
        )
    with syncprobe.record(device="sim"), syncprobe.step():
        recorded = torch.ones(8, 8, device="cuda")
        yield "recorded", microseconds(lambda: torch.add(recorded, recorded))


def parts() -> Iterator[tuple[str, float]]:
    """What the simulated device and the recorder do for one operator."""
    host, memory, finder, memo = torch.ones(8, 8), Memory(), CallSiteFinder(), Memo()
    yield "run on the host", microseconds(lambda: ADD(host, host))
    yield "the wrapper of the result", microseconds(lambda: wrap(host, None))
    yield "its memory, taken and given back", microseconds(lambda: Block(memory, 256))
    yield "the line that asked", microseconds(lambda: finder.find(sys._getframe(), memo))
    modelling = _recorder(finder, TwoClocks(SPECS["t4"]))
    yield "the program's time stopped and started", microseconds(lambda: _paused(modelling))
    adding = microseconds(lambda: _launch(_recorder_without))
    yield "the sums, with the line", adding
    yield "the two clocks and the film", microseconds(lambda: _launch(modelling)) - adding


def _recorder(finder: CallSiteFinder, clocks: TwoClocks | None) -> Recorder:
    recorder = Recorder(finder, SystemClock(), clocks, max_events=0)
    recorder.begin_step()
    return recorder


_recorder_without = _recorder(CallSiteFinder(), None)


def _paused(recorder: Recorder) -> None:
    recorder.pause()
    recorder.resume()


def _launch(recorder: Recorder) -> None:
    recorder.emit_launch("aten::add", 256, 768, 0, False)


def kinds(device: str) -> dict[str, tuple[int, Call]]:
    """Calls of several sorts, and how many of them make a round."""
    square, bias = torch.ones(8, 8, device=device), torch.ones(8, device=device)
    many = [torch.ones(8, 8, device=device) for _ in range(8)]
    layers = (torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    network = torch.nn.Sequential(*layers).to(device)
    optimizer = torch.optim.Adam(network.parameters(), foreach=True)

    def read() -> float:
        return square[0, 0].item()

    def learned() -> None:
        network(square).sum().backward()

    learned()
    return {
        "`x * 1.0`": (40, lambda: square * 1.0),
        "`x.view(64)`": (40, lambda: square.view(64)),
        "`x.add_(1.0)`": (40, lambda: square.add_(1.0)),
        "`torch.addmm(b, x, y)`": (40, lambda: torch.addmm(bias, square, square)),
        "`torch._foreach_add(8 tensors, 1.0)`": (20, lambda: torch._foreach_add(many, 1.0)),
        "`x[0, 0].item()`": (20, read),
        "two layers, forward": (10, lambda: network(square)),
        "two layers, forward and backward": (10, learned),
        "`Adam.step()`, 4 parameters": (10, optimizer.step),
    }


def timed_kinds(device: str, rounds: int = ROUNDS // 3) -> list[float]:
    return [microseconds(call, calls, rounds) for calls, call in kinds(device).values()]


def kind_rows() -> Iterator[str]:
    plain = timed_kinds("cpu")
    with SimulatedDevice(SilentSink()):
        silent = timed_kinds("cuda")
    with syncprobe.record(device="sim"), syncprobe.step():  # the first one is not watched
        recorded = timed_kinds("cuda")
    with syncprobe.record(device="sim"):
        with syncprobe.step():
            pass
        with syncprobe.step():
            watched = timed_kinds("cuda", rounds=5)
    for name, *figures in zip(kinds("cpu"), plain, silent, recorded, watched, strict=True):
        yield KIND_ROW.format(name, *figures)


def table() -> str:
    """Layers, parts and other calls, for the report."""
    headings = "| what | us per call |\n|---|---:|"
    kind_headings = "| call | CPU | not recorded | recorded | watched |\n|---|---:|---:|---:|---:|"
    return "\n".join(
        (
            MEANING,
            headings,
            *(ROW.format(*row) for row in layers()),
            PARTS,
            headings,
            *(ROW.format(*row) for row in parts()),
            KINDS,
            kind_headings,
            *kind_rows(),
        )
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(table())
