"""Measured time: clean passes of targets, taken in turns so that a slow moment hits all variants alike."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from syncprobe.clock import SystemClock
from syncprobe.errors import UnfinishedPassError
from syncprobe.measuring.stopwatch import Stopwatch
from syncprobe.recording.automatic import steps_told
from syncprobe.recording.fingerprinting import fingerprinted
from syncprobe.targets.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from syncprobe.clock import Clock
    from syncprobe.profiles.fingerprints.model import Fingerprints
    from syncprobe.profiles.model import Digest
    from syncprobe.targets import Target
    from syncprobe.targets.running import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanPass:
    """What a pass without recording gave."""

    steps: Sequence[Mapping[str, int]]
    """Nanoseconds by region, step by step."""
    digest: Digest | None
    fingerprint: str | None = None
    fingerprints: Fingerprints | None = None
    """What a user's program computed, where somebody looked."""

    @property
    def ms_per_step(self) -> float:
        """The mean, because learning happens only every few steps and counts too."""
        return sum(sum(step.values()) for step in self.steps) / len(self.steps) / 1e6


def clean_pass(
    target: Target,
    device: str,
    *,
    on_step: Callable[[int], None] | None = None,
    watched: AbstractContextManager[object] | None = None,
    clock: Clock | None = None,
    looks: bool = False,
) -> CleanPass:
    """Time a target where it really runs: on the GPU if it is real, else on the CPU.

    Args:
        target: What to run.
        device: What it is recorded on; ``sim`` is timed on the CPU.
        on_step: Hears how many steps are done.
        watched: Open while the target runs, such as a sampler.
        clock: The system's unless given.
        looks: Take the fingerprints of a user's program; the stopwatch stands meanwhile.
    """
    stopwatch = Stopwatch(
        clock or SystemClock(), warmup=target.warmup, max_steps=target.steps, on_step=on_step
    )
    collector = None
    with ExitStack() as undo:
        undo.enter_context(watched or nullcontext())
        if looks and target.step_on is not None:
            collector = undo.enter_context(fingerprinted(stopwatch=stopwatch))
        told = steps_told(stopwatch, target.step_on, ends_program=target.step_on is not None)
        with told as finder:
            try:
                outcome = target.execute("cuda" if device == "cuda" else "cpu")
            finally:
                if finder is not None:
                    finder.drop_open_step()
                stopwatch.end_step()
    if outcome.interruption is not None:
        raise UnfinishedPassError(
            f"The timed pass of {target.name} did not finish ({outcome.interruption}), so nothing was "
            "recorded. Profile it without --timed."
        )
    return CleanPass(
        steps=stopwatch.steps,
        digest=outcome.digest,
        fingerprint=fingerprint(outcome.left),
        fingerprints=None if collector is None else collector.fingerprints(outcome.exit_code),
    )


def in_turns(
    targets: Mapping[str, Target], device: str, rounds: int, progress: Progress | None = None
) -> dict[str, tuple[CleanPass, ...]]:
    """Clean passes of several targets, A B A B, after one of each that only warms up."""
    passes: dict[str, list[CleanPass]] = {name: [] for name in targets}
    total = (rounds + 1) * len(targets)
    done = 0
    for turn in range(rounds + 1):
        for name, target in targets.items():
            if progress is not None:
                progress("timing in turns", done, total)
            found = clean_pass(target, device)
            done += 1
            if turn:
                passes[name].append(found)
    return {name: tuple(each) for name, each in passes.items()}


def pooled(passes: Sequence[CleanPass]) -> CleanPass:
    """All steps of several passes of one target as if they were one."""
    return CleanPass(
        steps=[step for each in passes for step in each.steps],
        digest=passes[0].digest,
        fingerprints=passes[0].fingerprints,
    )
