"""What a small operator costs, layer by layer: how much of the overhead is torch's own way into Python."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import torch

import syncprobe
from syncprobe.simgpu import SimulatedDevice
from syncprobe.simgpu.session import SilentSink

CALLS = 300
ROUNDS = 40
HEADINGS = "| what | us per call |\n|---|---:|"
MEANING = (
    "\n## Where the overhead is\n\n"
    "Processor time of `torch.add` on 8 x 8 values, the fastest of many rounds: noise only adds. Programs of large "
    "operators see little of it; in programs of small ones it is the overhead.\n"
)


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
        return wrapped(cls, func(args[0].inner, args[1].inner))


def wrapped(kind: type[torch.Tensor], inner: torch.Tensor) -> torch.Tensor:
    outer = torch.Tensor._make_wrapper_subclass(kind, inner.shape, dtype=inner.dtype)
    outer.inner = inner
    return outer


ANSWER = torch.ones(8, 8)


def microseconds(call: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        before = time.thread_time_ns()
        for _ in range(CALLS):
            call()
        best = min(best, time.thread_time_ns() - before)
    return best / CALLS / 1e3


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


def table() -> str:
    """The layers, for the report."""
    rows = "\n".join(f"| {what} | {us:.1f} |" for what, us in layers())
    return f"{MEANING}\n{HEADINGS}\n{rows}"
