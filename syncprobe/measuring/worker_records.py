"""What environments cost where they run, worker processes included, and how that is merged into one record."""

from __future__ import annotations

import multiprocessing
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gymnasium

from syncprobe.measuring.hot_spots import SampleWatch

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class WorkerRecord:
    """What one environment did."""

    process: int
    steps: int
    busy_ns: int
    """Processor time in it: what other processes took does not count."""
    wall_ns: int
    """Time in it by the clock: at least what it would have taken alone."""
    stacks: list[tuple[Sequence[str], float]]
    """Where its time went; empty unless it was sampled."""


class Watched(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment that keeps record of itself; in a worker process it can be sampled.

    Args:
        env: What to watch.
        warmup: Steps that are in no record.
        is_sampled: Whether a worker process samples where its time goes; this process has its own samples.
    """

    def __init__(self, env: Any, *, warmup: int = 0, is_sampled: bool = False) -> None:
        super().__init__(env)
        self._warmup = warmup
        self._begun = 0
        self._busy_ns = 0
        self._wall_ns = 0
        is_worker = multiprocessing.parent_process() is not None
        self._samples = SampleWatch(warmup, None) if is_sampled and is_worker else None

    def step(self, action: Any) -> Any:
        """One step, with its time taken."""
        if self._samples is not None:
            self._samples.begin_step()
        self._begun += 1
        started = time.thread_time_ns(), time.perf_counter_ns()
        answer = self.env.step(action)
        self._count(started)
        return answer

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """A reset; it is part of the step that made it necessary."""
        started = time.thread_time_ns(), time.perf_counter_ns()
        answer = self.env.reset(seed=seed, options=options)
        self._count(started)
        return answer

    def _count(self, started: tuple[int, int]) -> None:
        if self._begun > self._warmup:
            self._busy_ns += time.thread_time_ns() - started[0]
            self._wall_ns += time.perf_counter_ns() - started[1]

    def record(self) -> WorkerRecord:
        """What was done after warm-up."""
        return WorkerRecord(
            process=os.getpid(),
            steps=max(self._begun - self._warmup, 0),
            busy_ns=self._busy_ns,
            wall_ns=self._wall_ns,
            stacks=[]
            if self._samples is None
            else list(filter(_is_at_work, self._samples.stacks())),
        )


def _is_at_work(sample: tuple[Sequence[str], float]) -> bool:
    """Whether the environment was running: a worker that waits to be told what to do does nothing."""
    return any(__file__ in frame for frame in sample[0])


@dataclass(frozen=True, kw_only=True)
class Collection:
    """The records of all environments as one."""

    steps: int
    """Of all environments together."""
    workers: int
    """Processes beside this one."""
    busy_ms: float
    """Processor time in all environments, per vector step."""
    wall_ms: float
    """Time by the clock in all environments, one added to the other, per vector step."""
    waited_ms: float
    """Until all had answered, per vector step."""
    rate: float
    """Environment steps per second of waiting."""

    def __str__(self) -> str:
        """In words, with advice where workers cost more than they save."""
        where = (
            f"{self.workers} worker processes (records merged)" if self.workers else "this process"
        )
        text = (
            f"Collection in {where}: {self.rate:,.0f} environment steps/s; {self.waited_ms:.2f} ms until all "
            f"have answered, {self.busy_ms:.2f} ms of processor time in them."
        )
        if self.workers and self.waited_ms > self.wall_ms:
            text += " One after the other would be faster: --vec dummy."
        return text


def merged(records: Sequence[WorkerRecord], waited_ns: int) -> Collection | None:
    """One record of all; None if nothing was done after warm-up."""
    steps = records[0].steps
    if not steps or not waited_ns:
        return None
    total = sum(record.steps for record in records)
    return Collection(
        steps=total,
        workers=len({record.process for record in records} - {os.getpid()}),
        busy_ms=sum(record.busy_ns for record in records) / steps / 1e6,
        wall_ms=sum(record.wall_ns for record in records) / steps / 1e6,
        waited_ms=waited_ns / steps / 1e6,
        rate=total / (waited_ns / 1e9),
    )
