"""Where the time of a training step goes, and how little it could be: ``python -m tests.benchmarks.floors``.

Processor time, not the clock's, because other work on the machine moves that less. The floor of a region is what its matrix products
take when nothing else is done: they are noted while an update or a decision runs, then repeated alone, on memory of the same shapes, by
the library that was asked. The replay has none; that of the environment is the time spent in compiled code, for which a table of its own follows.
What a whole step spends in compiled code is all that a second thread could share: with two of them half of it is left at best.
The floor of recording is the same run on a simulated device that keeps nothing of what it hears.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
import time
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
import torch

import patches
from patches.marinenav.step5_merge.compiled_environment.kernels import Kernels
from patches.marinenav.step5_merge.compiled_networks import products
from patches.marinenav.step5_merge.compiled_networks.compiled import runner
from patches.marinenav.step5_merge.compiled_networks.tapes.operations import (
    BLOCKS,
    PRODUCT,
    TURN,
    as_tape,
)
from syncprobe.clock import SystemClock
from syncprobe.measuring.stopwatch import Stopwatch
from syncprobe.profiles.timing import region_means
from syncprobe.recording import marks
from syncprobe.recording.session import Recording
from syncprobe.simgpu.device import SimulatedDevice
from syncprobe.simgpu.session import SilentSink
from syncprobe.targets import TargetOptions
from syncprobe.targets.legacy_code import AGENTS
from syncprobe.targets.marinenav import UPDATE_EVERY, TrainTarget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

STEPS: Final = 24
ROUNDS: Final = 2
REPETITIONS: Final = 20
RECORDINGS: Final = 8
"""Rounds in which recorded runs take turns."""
REGIONS: Final = ("env", "act", "learn", "insert")
ALL_STEPS: Final = (1, 2, 3, 4, 5)

_NETWORKS: Final = "patches.marinenav.step5_merge.compiled_networks"
_DESCENT: Final = "patches.marinenav.step5_merge.compiled_descent.kernels"
COMPILED: Final = {
    f"{_NETWORKS}.compiled.runner": ("run", "mix"),
    f"{_NETWORKS}.kernels": ("quantile_slopes",),
    f"{_NETWORKS}.sampling": ("draw", "squash", "log_probs", "sample_slopes"),
    f"{_NETWORKS}.apart": ("observe", "copy_columns", "pick", "put", "earn"),
    f"{_NETWORKS}.compiled.atoms": ("spread_noise", "project"),
    f"{_NETWORKS}.compiled.losses": ("squared", "smooth", "lower_of_two"),
    f"{_NETWORKS}.compiled.priorities": ("find", "are_valid", "look_ahead", "update"),
    _DESCENT: ("step", "approach"),
}
"""Compiled functions, where they are looked up when they are called."""


class ProcessorClock:
    """Time that this process spent computing."""

    now_ns = staticmethod(time.process_time_ns)


class Products:
    """The matrix products that compiled networks make, to be made again in memory of their own."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, ...]] = []
        self._memory: list[torch.Tensor] = []

    def note(self, tape: Any, groups: int) -> None:
        """Add those of a tape, for so many groups; what is turned for all groups is so once."""
        for row in tape.tolist():
            if row[0] == TURN:
                self._add(row, (row[5] * (row[4] + products.GAP), row[4] * row[6]))
            elif row[0] in {PRODUCT, BLOCKS}:
                for _ in range(groups):
                    self._add_product(row)

    def _add_product(self, row: list[int]) -> None:
        columns, rows, terms, ahead, behind = row[6:11]
        lengths = (columns * rows, ahead * max(columns, terms), behind * max(rows, terms))
        if row[0] == BLOCKS:
            row = [*row[:12], len(self._memory) + len(lengths), row[13]]
            lengths = (*lengths, products._room_for(tuple(row[4:12])))
        self._add(row, lengths)

    def _add(self, row: list[int], lengths: tuple[int, ...]) -> None:
        """Add a row whose matrices, the first ones of what it names, have so many numbers."""
        slots = [len(self._memory) + place for place in range(min(len(lengths), 3))]
        self._memory += [torch.rand(length) for length in lengths]
        self._rows.append((row[0], *slots, *row[1 + len(slots) :]))

    def again(self) -> Any:
        """Return what makes all of them."""
        tape = as_tape(self._rows)
        addresses = np.array([each.data_ptr() for each in self._memory])
        strides = np.zeros_like(addresses)
        return lambda: runner.run(8, tape, addresses, strides, 1, runner.SCALARS)


def regions(agent: str, steps: tuple[int, ...], mode: str) -> dict[str, float]:
    """Milliseconds per step and region of one run."""
    target = TrainTarget(TargetOptions(agent=agent, steps=STEPS, patches=steps, mode=mode))
    stopwatch = Stopwatch(ProcessorClock(), warmup=target.warmup, max_steps=STEPS)
    marks.activate(stopwatch)
    try:
        target.execute("cpu")
    finally:
        marks.activate(None)
    return region_means(list(stopwatch.steps))


class Inside:
    """Seconds that are spent in functions."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def of(self, function: Any) -> Any:
        """The function, timed."""

        def call(*arguments: Any) -> Any:
            begin = time.process_time()
            result = function(*arguments)
            self.seconds += time.process_time() - begin
            return result

        return call


@contextlib.contextmanager
def compiled_code_timed() -> Iterator[Inside]:
    """Time what is spent in compiled code, that of the environment included."""
    inside = Inside()
    owners: list[tuple[Any, tuple[str, ...]]] = [(Kernels, ("advance", "look"))]
    owners += [(importlib.import_module(name), functions) for name, functions in COMPILED.items()]
    with pytest.MonkeyPatch.context() as patch:
        for owner, names in owners:
            for name in names:
                patch.setattr(owner, name, inside.of(getattr(owner, name)))
        yield inside


def compiled_part(agent: str) -> float:
    """Milliseconds per step that are spent in compiled code."""
    with compiled_code_timed() as inside:
        target = TrainTarget(TargetOptions(agent=agent, steps=STEPS, patches=ALL_STEPS))
        target.execute("cpu")
    return inside.seconds / (target.warmup + STEPS) * 1e3


def floor(work: Any) -> float:
    """Milliseconds that the matrix products of some work take alone."""
    work()  # which also finds out, once per shape, which products keep bits
    made, run = Products(), runner.run

    def noting(lanes: int, tape: Any, addresses: Any, strides: Any, groups: int, told: Any) -> None:
        made.note(tape, groups)
        run(lanes, tape, addresses, strides, groups, told)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "run", noting)
        work()
    again = made.again()
    again()
    return min(_seconds(again) for _ in range(REPETITIONS)) * 1e3


def _seconds(work: Any) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def floors(agent_type: str) -> dict[str, float]:
    """The floors of deciding for five robots and of learning, per step."""
    from tests.benchmarks.test_patches import filled

    agent = filled(agent_type, "all")
    states = [(list(np.full(7, 0.1 * robot)), [list(np.full(5, 0.5))] * 3) for robot in range(5)]
    with patches.applied("all"), torch.no_grad():
        act = floor(lambda: agent.act_batch(states, eps=0.0, use_eval=False))
    with patches.applied("all"):
        agent.train()
        learn = floor(agent.train) / UPDATE_EVERY
    return {"act": act, "learn": learn}


def environment_step(robots: int) -> tuple[float, float, float]:
    """Milliseconds of a step of the environment: legacy, patched, and those that the latter spends in compiled code."""
    from tests.benchmarks.test_patches import ENVIRONMENT_CALLS, stepping

    calls = ENVIRONMENT_CALLS[robots]
    with contextlib.redirect_stdout(io.StringIO()):  # environments say what they are made of
        legacies, work = [stepping(robots) for _ in range(2)], stepping(robots)
    legacy = min(_seconds(each) for each in legacies)

    with patches.applied("5"):
        work()
        now = min(_seconds(work) for _ in range(REPETITIONS))
        with compiled_code_timed() as inside:
            spent = []
            for _ in range(REPETITIONS):
                inside.seconds = 0.0
                work()
                spent.append(inside.seconds)
    return legacy / calls * 1e3, now / calls * 1e3, min(spent) / calls * 1e3


def environments() -> None:
    """Print a table of Markdown, by the number of robots."""
    print("| robots | legacy | now | in compiled code |")
    print("|---|---|---|---|")
    for robots in (5, 20, 100):
        legacy, now, inside = environment_step(robots)
        print(
            f"| {robots} | {legacy:.1f} | {now:.2f} ({legacy / now:.0f}x) "
            f"| {inside:.2f} ({legacy / inside:.0f}x) |",
            flush=True,
        )


def recordings() -> None:
    """Print a table of Markdown: what is added to a training run until it is recorded."""
    root = TrainTarget(TargetOptions()).root
    ways: dict[str, Callable[[], AbstractContextManager[object]]] = {
        "plain": contextlib.nullcontext,
        "on the simulated device, nothing kept": lambda: SimulatedDevice(SilentSink()),
        "recorded without own time": lambda: Recording(
            device="sim", root=root, clock=SystemClock()
        ),
        "recorded": lambda: Recording(device="sim", root=root),
    }

    def run(name: str) -> None:
        target = TrainTarget(TargetOptions(steps=STEPS))
        with ways[name]():
            target.execute("cpu" if name == "plain" else "cuda")

    found = {name: [_seconds(partial(run, name)) for _ in range(2)] for name in ways}
    for _ in range(RECORDINGS):
        for name, seconds in found.items():
            seconds.append(_seconds(partial(run, name)))
    least = {name: min(seconds) for name, seconds in found.items()}
    print("| a training run, AC-IQN | seconds | times as long |")
    print("|---|---|---|")
    for name, seconds_ in least.items():
        print(f"| {name} | {seconds_:.2f} | {seconds_ / least['plain']:.2f} |", flush=True)


def main(agents: tuple[str, ...] = AGENTS) -> None:
    """Print a table of Markdown, agent by agent."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", RuntimeWarning)
    print(
        "| agent | region | legacy | now, fast | now, exact | in compiled code | two threads at best | floor |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for agent in agents:
        variants = {
            "legacy": ((), "fast"),
            "fast": (ALL_STEPS, "fast"),
            "exact": (ALL_STEPS, "exact"),
        }
        found: dict[str, list[dict[str, float]]] = {name: [] for name in variants}
        for _ in range(ROUNDS):
            for name, (steps, mode) in variants.items():
                found[name].append(regions(agent, steps, mode))
        best = {
            name: {region: min(each[region] for each in rounds) for region in REGIONS}
            for name, rounds in found.items()
        }
        least = floors(agent)
        for region in REGIONS:
            cells = [f"{best[name][region]:.2f}" for name in variants]
            low = f"{least[region]:.2f}" if region in least else ""
            print(f"| {agent} | {region} | {' | '.join(cells)} | | | {low} |")
        totals = {name: sum(of_regions.values()) for name, of_regions in best.items()}
        cells = [f"{totals['legacy']:.2f}"]
        cells += [
            f"{totals[name]:.2f} ({totals['legacy'] / totals[name]:.1f}x)"
            for name in ("fast", "exact")
        ]
        inside = min(compiled_part(agent) for _ in range(ROUNDS))
        shared = totals["fast"] - inside / 2
        cells += [f"{inside:.2f}", f"{shared:.2f} ({totals['legacy'] / shared:.1f}x)"]
        print(
            f"| {agent} | **step** | {' | '.join(cells)} | {sum(least.values()):.2f} |", flush=True
        )


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or AGENTS)
    print()
    environments()
    print()
    recordings()
