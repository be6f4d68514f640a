"""Runs variants: recorded each on its own, and timed in turns so that a slow moment hits all alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from syncprobe.targets.options import TargetOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.profiles.model import Profile
    from syncprobe.targets.clean_passes import CleanPass
    from syncprobe.targets.running import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """How to run what is named, and how to compare."""

    name: str | None = None
    """The target: ``train`` or ``torchrl``, or the program that revisions are of; None is ``train``, or what a
    given profile has."""
    target: TargetOptions = field(default_factory=TargetOptions)
    device: str = "auto"
    gpu: str = "t4"
    rounds: int = 5
    """Timed passes of each variant."""
    verify_steps: int = 200
    """Training steps that the equivalence check repeats; 0 leaves it out."""
    is_in_place: bool = False
    """Run programs where they are, so that what they write stays."""
    progress: Progress | None = None
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Something that can be run, and how."""

    label: str
    target: str
    options: TargetOptions


def record(variant: Variant, options: CompareOptions, clean: CleanPass | None = None) -> Profile:
    """The profile of a variant."""
    from syncprobe.targets import running  # it imports torch, which reading profiles does not need

    run_options = running.RunOptions(
        target=variant.options,
        device=options.device,
        gpu=options.gpu,
        progress=_prefixed(options.progress, variant.label),
        command=options.command,
    )
    if clean is None:
        return running.run(variant.target, run_options)
    return running.run(variant.target, run_options, clean=clean)


def time_and_record(
    variants: Sequence[Variant], options: CompareOptions
) -> list[tuple[Profile, tuple[float, ...]]]:
    """Time variants in turns and record each once; its profile, and milliseconds per step of each pass."""
    from syncprobe.recording.session import resolve_device
    from syncprobe.targets import clean_passes, find_target  # they import torch

    device = resolve_device(options.device)
    # Keyed by place: a variant may be compared with itself.
    targets = {
        f"{place} {variant.label}": find_target(variant.target, variant.options)
        for place, variant in enumerate(variants)
    }
    passes = clean_passes.in_turns(targets, device, options.rounds, options.progress)
    return [
        (
            record(variant, options, clean_passes.pooled(found)),
            tuple(each.ms_per_step for each in found),
        )
        for variant, found in zip(variants, passes.values(), strict=True)
    ]


def _prefixed(progress: Progress | None, label: str) -> Progress | None:
    if progress is None:
        return None

    def prefixed(phase: str, done: int, total: int) -> None:
        progress(f"{label}: {phase}", done, total)

    return prefixed
