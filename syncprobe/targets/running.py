"""Runs a target: a clean pass that is timed, a recorded pass that is not, and one profile of both."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol

from syncprobe.findings import SourceLines
from syncprobe.measuring.hot_calls import hot_calls
from syncprobe.measuring.hot_spots import SampleWatch, can_sample, hot_spots
from syncprobe.measuring.sampling import sample_format, sampled
from syncprobe.profiles.lines.listing import hot_functions, source_lines
from syncprobe.recording.assembling import Extras, describe_run, profile_of
from syncprobe.recording.automatic import steps_told
from syncprobe.recording.callsite import CallSiteFinder
from syncprobe.recording.fingerprinting import fingerprinted
from syncprobe.recording.session import Recording, resolve_device
from syncprobe.recording.silence import silent_device
from syncprobe.targets import TargetOptions, find_target
from syncprobe.targets.base import OptionError
from syncprobe.targets.clean_passes import clean_pass
from syncprobe.targets.fingerprint import draws_restored, fingerprint
from syncprobe.targets.step_notes import notes_on_steps

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from syncprobe.profiles.model import Digest, Profile
    from syncprobe.recording.fingerprinting.collecting import Collector
    from syncprobe.targets import Target
    from syncprobe.targets.base import Outcome
    from syncprobe.targets.clean_passes import CleanPass


OTHER_VALUES: Final = (
    "OTHER VALUES: the parameters at the end of the recorded run are not those of the clean run. If the "
    "program is not random by the clock, --check-values names the first operation that differs."
)


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
    checks_values: bool = False
    """Compute everything on the host once more, and note the first difference."""
    is_thorough: bool = False
    """Take fingerprints of a user's program after every optimizer step, whatever that costs."""
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
        own=target.own,
        on_step=_announcer(options.progress, f"recording on {device}", target),
        step_on=target.step_on,
        ends_program=target.step_on is not None,
        checks_values=options.checks_values,
    )
    restore_draws = draws_restored()
    was_asked = clean is None
    if was_asked and _is_timed(target, options):
        clean = clean_pass(
            target,
            device,
            on_step=_announcer(options.progress, "timing", target),
            watched=sampled(options.sample),
            looks=True,
        )
    restore_draws()
    # Outside of the recording, so that it hears of the last step before the recording ends the program.
    with _looked_at(target, options) as collector, recording:
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
            step_on=recording.step_on,
            notes=(
                *described.notes,
                *notes_on_steps(
                    recording.step_on,
                    outcome,
                    asked=target.step_on,
                    made=recording.recorder.steps_started,
                ),
                *_differences(outcome, clean),
            ),
        ),
        measured=clean.steps if clean else None,
        digest=_compared(outcome.digest, clean.digest if clean else None),
    )
    profile = profile_of(recording, extras)
    if collector is not None:
        profile = replace(profile, fingerprints=collector.fingerprints(outcome.exit_code))
    if outcome.interruption is not None:
        return profile
    if can_sample() and (options.has_lines or (was_asked and _is_timed(target, options))):
        profile = _with_hot_spots(profile, target, device)
    if options.has_lines:
        functions = hot_functions(profile.sites, profile.hot_spots)
        with silent_device(device):
            times = target.time_lines(functions, _device_name(device))
        profile = replace(profile, lines=source_lines(times, SourceLines(target.root)))
    return profile


def _looked_at(target: Target, options: RunOptions) -> AbstractContextManager[Collector | None]:
    """What takes the fingerprints of a user's program; the built-in targets have digests of their own."""
    if target.step_on is None:
        return nullcontext()
    return fingerprinted(is_thorough=options.is_thorough)


def _with_hot_spots(profile: Profile, target: Target, device: str) -> Profile:
    """Run the target once more, without recording, and see where its own time goes."""
    target = target.sampled
    watch = SampleWatch(target.warmup, target.steps)
    with silent_device(device), steps_told(watch, target.step_on, ends_program=True):
        try:
            target.execute(_device_name(device))
        finally:
            stacks = watch.stacks()
    path_of = CallSiteFinder(target.root).path_of
    return replace(
        profile, hot_spots=hot_spots(stacks, path_of), hot_calls=hot_calls(stacks, path_of)
    )


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


def _differences(recorded: Outcome, clean: CleanPass | None) -> tuple[str, ...]:
    """What to say if a user's program left other parameters behind than in the clean pass."""
    if clean is None or clean.fingerprint is None:
        return ()
    found = fingerprint(recorded.left)
    return () if found in {None, clean.fingerprint} else (OTHER_VALUES,)


def _device_name(device: str) -> str:
    """What the program calls the device it is recorded on: the simulated one is CUDA to it."""
    return "cpu" if device == "cpu" else "cuda"


def _announcer(
    progress: Progress | None, phase: str, target: Target
) -> Callable[[int], None] | None:
    if progress is None:
        return None
    total = 0 if target.steps is None else target.warmup + target.steps
    # Forked workers step environments of their own; how far the program has come is not theirs to say.
    speaker = os.getpid()

    def announce(done: int) -> None:
        if os.getpid() == speaker:
            progress(phase, done, total)

    return announce
