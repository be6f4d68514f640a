"""What the runs of all workloads have in common: how they are described, and how they are watched."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from syncprobe.recording.silence import silent_device
from syncprobe.targets import legacy_code
from syncprobe.targets.base import require_positive

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from syncprobe.equivalence.trace import StepTrace, Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadRun:
    """A run of a workload, described completely."""

    pipeline: str
    seed: int = 0
    steps: int = 200
    agent: str = "DQN"
    """One of those that the workload has."""
    size: Mapping[str, Any] = field(default_factory=dict)
    """What differs from the size that the workload is usually verified with."""
    learning: Mapping[str, Any] = field(default_factory=dict)
    """Likewise."""
    device: str = "cpu"
    """``sim`` trains on the simulated device."""

    def __post_init__(self) -> None:
        require_positive("steps", self.steps, minimum=2)
        require_positive("seed", self.seed, minimum=0)


def torch_device(run: WorkloadRun) -> str:
    """What torch calls the device of a run: the simulated one is CUDA to it."""
    return "cuda" if run.device == "sim" else run.device


class Watch(Protocol):
    """Observes a trainer."""

    steps: list[StepTrace]

    def follow(self, trainer: Any, count: int, on_step: Callable[[int], None] | None) -> None:
        """Let the trainer make some steps."""

    def trace(self, failure: str | None, trainer: Any = None) -> Trace:
        """What happened."""


def traced(
    run: WorkloadRun,
    build: Callable[[WorkloadRun], Any],
    watch: Watch,
    variant: AbstractContextManager[Any] | None,
    on_step: Callable[[int], None] | None,
) -> Trace:
    """Train from scratch and return everything that happened.

    Args:
        run: What to train.
        build: Makes the trainer.
        watch: Writes down what it does.
        variant: In force while everything is built and run; None is legacy.
        on_step: Hears the number of each step when it begins.
    """
    with ExitStack() as stack:
        stack.enter_context(legacy_code.undisturbed())
        stack.enter_context(silent_device(run.device))
        stack.enter_context(variant or nullcontext())
        try:
            trainer = build(run)
            watch.follow(trainer, run.steps, on_step)
        except Exception as error:  # whatever it is, legacy does not raise it
            if variant is None:
                raise
            return watch.trace(f"{type(error).__name__} at step {len(watch.steps)}: {error}")
        return watch.trace(None, trainer)
