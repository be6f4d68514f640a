"""Two variants of a program: read or run, timed in turns, and checked for doing the same thing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe import storage
from syncprobe.analysis import compare as analysis
from syncprobe.analysis.model import Profile
from syncprobe.analysis.ratio import speedup_of
from syncprobe.analysis.verdict import Case, Verdict, Verification, conclude
from syncprobe.errors import UnknownNameError
from syncprobe.targets.base import PLAN_STEPS, OptionError, TargetOptions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from syncprobe.analysis.compare import Comparison
    from syncprobe.running import Progress

LEVELS: Final[dict[str, tuple[int, ...]]] = {
    "baseline": (),
    **{f"step{last}": tuple(range(1, last + 1)) for last in PLAN_STEPS},
    "optimized": PLAN_STEPS,
}
"""Variants that can be run by name: each step of the plan brings those before it along."""
PIPELINES: Final = {"train": "original", "torchrl": "torchrl"}
FROM_RUN: Final = ("agent", "robots", "cores", "obstacles", "seed", "steps", "warmup")
"""What a variant run now takes over from a profile it is compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """How to run what is named, and how to compare."""

    name: str | None = None
    """The target: ``train`` or ``torchrl``; None is ``train``, or what a given profile has."""
    target: TargetOptions = field(default_factory=TargetOptions)
    device: str = "auto"
    gpu: str = "t4"
    rounds: int = 5
    """Timed passes of each variant."""
    verify_steps: int = 200
    """Training steps that the equivalence check repeats; 0 leaves it out."""
    progress: Progress | None = None
    command: str = ""


def compare(
    first: Profile | Path | str, second: Profile | Path | str, options: CompareOptions | None = None
) -> Comparison:
    """Put two variants side by side.

    Args:
        first: A profile, the file of one, or a name: ``baseline``, ``step1`` to ``step5``, ``optimized``.
        second: The same.
        options: For what is run now; two profiles that exist already are only read.
    """
    options = options or CompareOptions()
    sides = (_side(first), _side(second))
    given = [side for side in sides if isinstance(side, Profile)]
    if len(given) == len(sides):
        verdict = analysis.verdict_from_digests(*given)
        return analysis.compare(*given, verdict=verdict)
    if given:
        options = _like(given[0], options)
        before, after = (
            side if isinstance(side, Profile) else _run(side, options) for side in sides
        )
        verdict = analysis.verdict_from_digests(before, after)
        return analysis.compare(before, after, verdict=verdict)
    return _run_both(str(sides[0]), str(sides[1]), options)


def _side(what: Profile | Path | str) -> Profile | str:
    """A profile, or the name of a variant."""
    if isinstance(what, Profile) or (isinstance(what, str) and what in LEVELS):
        return what
    path = Path(what)
    if not path.exists() and path.suffix != ".json":
        raise UnknownNameError("variant or profile", str(what), (*LEVELS, "path/to/profile.json"))
    return storage.load(path)


def _like(profile: Profile, options: CompareOptions) -> CompareOptions:
    """Fill what was not asked for from the run of a profile."""
    chosen = {
        name: getattr(profile.run, name)
        for name in FROM_RUN
        if getattr(options.target, name) is None
    }
    return replace(
        options,
        name=options.name or profile.run.target,
        target=replace(options.target, **chosen),
        gpu=profile.run.gpu,
    )


def _target_name(options: CompareOptions) -> str:
    name = options.name or "train"
    if name not in PIPELINES:
        raise OptionError(
            f"Only {' and '.join(PIPELINES)} have variants that can be run by name, not {name}. "
            "Compare two saved profiles of it instead."
        )
    return name


def variant_options(level: str, options: CompareOptions) -> TargetOptions:
    """The target's options with the patches of a level."""
    return replace(options.target, patches=LEVELS[level])


def _run(level: str, options: CompareOptions) -> Profile:
    from syncprobe import running  # it imports torch, which reading profiles does not need

    return running.run(
        _target_name(options),
        running.RunOptions(
            target=variant_options(level, options),
            device=options.device,
            gpu=options.gpu,
            progress=_prefixed(options.progress, level),
            command=options.command,
        ),
    )


def _run_both(first: str, second: str, options: CompareOptions) -> Comparison:
    # Verified first: it is the quickest way to find out that something is wrong.
    verdict = _verify((first, second), options)
    (before, first_ms), (after, second_ms) = run_levels((first, second), options)
    return analysis.compare(before, after, speedup=speedup_of(first_ms, second_ms), verdict=verdict)


def run_levels(
    levels: Iterable[str], options: CompareOptions
) -> list[tuple[Profile, tuple[float, ...]]]:
    """Time variants in turns and record each once; its profile, and milliseconds per step of each pass."""
    from syncprobe import measuring, running  # they import torch
    from syncprobe.recording.session import resolve_device
    from syncprobe.targets import find_target

    name, device = _target_name(options), resolve_device(options.device)
    # Keyed by place: a variant may be compared with itself.
    named = {f"{place} {level}": level for place, level in enumerate(levels)}
    targets = {
        key: find_target(name, variant_options(level, options)) for key, level in named.items()
    }
    passes = measuring.in_turns(targets, device, options.rounds, options.progress)
    found = []
    for key, level in named.items():
        profile = running.run(
            name,
            running.RunOptions(
                target=variant_options(level, options),
                device=device,
                gpu=options.gpu,
                progress=_prefixed(options.progress, level),
                command=options.command,
            ),
            clean=measuring.pooled(passes[key]),
        )
        found.append((profile, tuple(each.ms_per_step for each in passes[key])))
    return found


def _verify(levels: tuple[str, ...], options: CompareOptions) -> Verdict:
    from syncprobe.equivalence import TrainingRun, Verifier  # it imports torch
    from syncprobe.targets.legacy_code import AGENTS, agent_name

    patched = [LEVELS[level] for level in dict.fromkeys(levels) if LEVELS[level]]
    if not patched:
        return Verdict(is_equivalent=True, summary="identical (the same code)")
    if not options.verify_steps:
        return Verdict(is_equivalent=None, summary="not checked: --verify-steps 0")
    run = TrainingRun(
        agent=agent_name(options.target.agent or AGENTS[0]),
        pipeline=PIPELINES[_target_name(options)],
        seed=options.target.seed or 0,
        steps=options.verify_steps,
    )
    verifier = Verifier(run, progress=options.progress)
    verdicts = tuple(
        verifier.check(
            Case(
                agent=run.agent,
                pipeline=run.pipeline,
                patches=patches,
                mode=options.target.mode,
                seed=run.seed,
                steps=run.steps,
            )
        )
        for patches in patched
    )
    return conclude(Verification(verdicts=verdicts))


def _prefixed(progress: Progress | None, level: str) -> Progress | None:
    if progress is None:
        return None

    def prefixed(phase: str, done: int, total: int) -> None:
        progress(f"{level}: {phase}", done, total)

    return prefixed
