"""Passes of a program, made in the process that is its own: recorded, timed, or only looked at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from syncprobe.comparison.programs.processes import silence

if TYPE_CHECKING:
    from syncprobe.profiles.fingerprints.model import Fingerprints
    from syncprobe.profiles.model import Profile
    from syncprobe.targets.clean_passes import CleanPass
    from syncprobe.targets.options import TargetOptions
    from syncprobe.targets.running import RunOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a pass computed, and how it ended."""

    fingerprints: Fingerprints
    interruption: str | None


def recorded(name: str, options: RunOptions, revision: str | None) -> Profile:
    """A profile with fingerprints of every step."""
    from syncprobe.targets import running  # it imports torch

    profile = running.run(name, replace(options, is_thorough=True))
    return replace(profile, run=replace(profile.run, revision=revision))


def timed(name: str, options: TargetOptions, device: str) -> CleanPass:
    """A clean pass."""
    from syncprobe.recording.session import resolve_device  # they import torch
    from syncprobe.targets import find_target
    from syncprobe.targets.clean_passes import clean_pass

    with silence():
        found = clean_pass(find_target(name, options), resolve_device(device))
    return replace(found, steps=[dict(step) for step in found.steps])


def looked_at(name: str, options: TargetOptions, device: str) -> Look:
    """What a program computes, without recording it."""
    from syncprobe.clock import SystemClock
    from syncprobe.measuring.stopwatch import Stopwatch
    from syncprobe.recording.automatic import steps_told  # they import torch
    from syncprobe.recording.fingerprinting import fingerprinted
    from syncprobe.recording.session import resolve_device
    from syncprobe.recording.silence import silent_device
    from syncprobe.targets import find_target

    target, device = find_target(name, options), resolve_device(device)
    watch = Stopwatch(SystemClock(), warmup=target.warmup, max_steps=target.steps)
    with (
        silence(),
        fingerprinted(is_thorough=True) as collector,
        silent_device(device),
        steps_told(watch, target.step_on, ends_program=True),
    ):
        outcome = target.execute("cpu" if device == "cpu" else "cuda")
    return Look(
        fingerprints=collector.fingerprints(outcome.exit_code), interruption=outcome.interruption
    )
