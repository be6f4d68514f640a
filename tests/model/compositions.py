"""Programs of known composition, and what the model's own formulas say about them."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch

import syncprobe
from syncprobe.cuda.costs import TwoClocks
from syncprobe.cuda.specs import SPECS
from syncprobe.events import EventKind
from syncprobe.rendering.answer.summary import summarise
from syncprobe.rendering.answer.worth import HARDLY, MOSTLY

SMALL = 4
LARGE = 40_000
GPU = "t4"


@dataclass(frozen=True, slots=True)
class Composition:
    """What one step is made of."""

    spin_us: int
    operators: int
    syncs: int
    elements: int = SMALL
    nbytes: int = 0

    @property
    def label(self) -> str:
        """For a test's name."""
        size = "large" if self.elements == LARGE else "small"
        moved = f"-{self.nbytes}bytes" if self.nbytes else ""
        return f"{self.spin_us}us-{self.operators}{size}-{self.syncs}syncs{moved}"


@dataclass(frozen=True, slots=True)
class Found:
    """What a profile says about a composition, or what is true of it."""

    own_us: float
    step_us: float
    answer: str
    """The verdict's first words."""

    @property
    def share(self) -> float:
        """What the verdict judges by: all but own code."""
        return 1 - self.own_us / self.step_us


def spin(microseconds: float) -> None:
    """Keep the interpreter busy; by processor time, which no other process can add to."""
    until = time.thread_time_ns() + microseconds * 1e3
    while time.thread_time_ns() < until:
        pass


def record(composition: Composition, steps: int = 24) -> Found:
    """Run a composition on the simulated device, as a program would, and read its profile."""
    with syncprobe.record(device="sim", gpu=GPU) as recording:
        values = torch.ones(composition.elements, device="cuda")
        one = torch.ones(1, device="cuda")
        host = torch.ones(composition.nbytes // 4)
        for _ in range(steps):
            syncprobe.step()
            run_step(composition, values, one, host)
    profile = recording.profile()
    own, step_ms = profile.time.own, profile.time.modelled_ms_per_step
    assert own is not None
    assert step_ms is not None
    answer = summarise(profile).verdict.partition(":")[0]
    return Found(own.ms_per_step * 1e3, step_ms * 1e3, answer)


def run_step(
    composition: Composition, values: torch.Tensor, one: torch.Tensor, host: torch.Tensor
) -> None:
    """Half of the own code before the operators, half between them and the reads."""
    if composition.spin_us:
        spin(composition.spin_us / 2)
    if composition.nbytes:
        host.to("cuda")
    for _ in range(composition.operators):
        values = values * 1.0
    if composition.spin_us:
        spin(composition.spin_us / 2)
    for _ in range(composition.syncs):
        one.item()


def truth(composition: Composition) -> Found:
    """The same step by the formulas alone."""
    clocks = TwoClocks(SPECS[GPU])
    clocks.host(int(composition.spin_us * 500))
    if composition.nbytes:
        clocks.event(EventKind.COPY_TO_DEVICE, True, composition.nbytes, 0)
    for _ in range(composition.operators):
        clocks.launch(8 * composition.elements, 0)
    clocks.host(int(composition.spin_us * 500))
    for _ in range(composition.syncs):
        clocks.event(EventKind.SCALAR_READ, True, 4, 0)
    share = 1 - composition.spin_us * 1e3 / clocks.host_ns
    answer = "Yes" if share >= MOSTLY else "In part" if share >= HARDLY else "No"
    return Found(composition.spin_us, clocks.host_ns / 1e3, answer)
