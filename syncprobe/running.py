"""Runs a target: a clean pass that is timed, a recorded pass that is not, and one profile of both."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from syncprobe.analysis.lines import hot_functions, source_lines
from syncprobe.findings import SourceLines
from syncprobe.measuring import clean_pass
from syncprobe.profiling import Extras, describe_run, profile_of
from syncprobe.recording.sampling import sample_format, sampled
from syncprobe.recording.session import Recording, resolve_device
from syncprobe.targets import TargetOptions, find_target
from syncprobe.targets.base import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from syncprobe.analysis.model import Digest, Profile
    from syncprobe.measuring import CleanPass
    from syncprobe.targets import Target


class Progress(Protocol):
    """Hears how far a run has come."""

    def __call__(self, phase: str, done: int, total: int) -> None:
        """``done`` of ``total`` steps of a phase are over; 0 of 0 if nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How to profile."""

    target: TargetOptions = field(default_factory=TargetOptions)
    device: str = "auto"
    gpu: str = "t4"
    is_timed: bool | None = None
    """Run a clean pass for measured time; None leaves it to the target."""
    has_lines: bool = False
    """Time the lines of the functions that cost most, in a pass of its own."""
    sample: Path | None = None
    """Where py-spy writes what it saw of the clean pass; asking for it asks for a clean pass."""
    progress: Progress | None = None
    command: str = ""
    """The command line to name in the profile."""


def run(name: str, options: RunOptions | None = None, *, clean: CleanPass | None = None) -> Profile:
    """Profile a target: ``train``, ``torchrl``, a script's path, or ``module:function``.

    Args:
        name: What to run.
        options: How to profile.
        clean: A clean pass of the same target that was made already, in place of one made here.
    """
    options = options or RunOptions()
    device = resolve_device(options.device)
    target = find_target(name, options.target)
    recording = Recording(
        device=device,
        gpu=options.gpu,
        warmup=target.warmup,
        steps=target.steps,
        root=target.root,
        on_step=_announcer(options.progress, f"recording on {device}", target),
    )
    if clean is None and _is_timed(target, options):
        clean = clean_pass(
            target,
            device,
            on_step=_announcer(options.progress, "timing", target),
            watched=sampled(options.sample),
        )
    with recording:
        outcome = target.execute(_device_name(device))
    described = target.describe(
        describe_run(target=name, device=device, gpu=recording.gpu.name, command=options.command)
    )
    extras = Extras(
        run=replace(
            described,
            is_complete=outcome.interruption is None,
            exit_code=outcome.exit_code,
            interruption=outcome.interruption,
        ),
        measured=clean.steps if clean else None,
        digest=_compared(outcome.digest, clean.digest if clean else None),
    )
    profile = profile_of(recording, extras)
    if options.has_lines and outcome.interruption is None:
        times = target.time_lines(hot_functions(profile.sites))
        profile = replace(profile, lines=source_lines(times, SourceLines(target.root)))
    return profile


def _is_timed(target: Target, options: RunOptions) -> bool:
    if options.sample is not None:
        if options.is_timed is False:
            raise OptionError("--sample watches the timed pass, so it cannot go with --no-timed.")
        sample_format(options.sample)
        return True
    return target.is_timed_by_default if options.is_timed is None else options.is_timed


def _compared(recorded: Digest | None, clean: Digest | None) -> Digest | None:
    """The digest of the recorded pass, marked if the clean pass did something else."""
    if recorded is None or clean is None:
        return recorded
    return replace(recorded, is_perturbed=recorded != clean)


def _device_name(device: str) -> str:
    """What the program calls the device it is recorded on: the simulated one is CUDA to it."""
    return "cpu" if device == "cpu" else "cuda"


def _announcer(
    progress: Progress | None, phase: str, target: Target
) -> Callable[[int], None] | None:
    if progress is None:
        return None
    total = 0 if target.steps is None else target.warmup + target.steps

    def announce(done: int) -> None:
        progress(phase, done, total)

    return announce
