"""Runs two programs, each in a process and a folder of its own: recorded once, then timed in turns."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from syncprobe.comparison import side_by_side as analysis
from syncprobe.comparison.programs import passes
from syncprobe.comparison.programs.judging import Ended, verdict_of
from syncprobe.comparison.programs.processes import runner
from syncprobe.comparison.ratio import speedup_of
from syncprobe.errors import UnfinishedPassError
from syncprobe.profiles import timing
from syncprobe.targets.places import git
from syncprobe.targets.running import RunOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from syncprobe.comparison.programs.processes import RunnerProcess
    from syncprobe.comparison.programs.sides import Side
    from syncprobe.comparison.ratio import Speedup
    from syncprobe.comparison.side_by_side import Comparison
    from syncprobe.comparison.variant_runs import CompareOptions
    from syncprobe.profiles.model import Profile
    from syncprobe.targets.clean_passes import CleanPass

    Call = Callable[..., object]


def compare_programs(first: Side, second: Side, options: CompareOptions) -> Comparison:
    """Put two programs side by side."""
    sides = (first, second)
    with ExitStack() as undo:
        runners = [
            undo.enter_context(runner(undo.enter_context(side.place()), side.label))
            for side in sides
        ]
        profiles = [
            _recorded(side, process, options) for side, process in zip(sides, runners, strict=True)
        ]
        again = _again(first, options) if _are_complete(profiles) else None
        speedup = None
        if _are_complete(profiles):
            _tell(options, "timing in turns")
            profiles, speedup = _timed(sides, runners, profiles, options)
    before, after = profiles
    verdict = verdict_of(_ended(before), _ended(after), again)
    verdict = replace(verdict, remarks=(*verdict.remarks, *_uncommitted(sides)))
    return analysis.compare(before, after, speedup=speedup, verdict=verdict)


def record_program(side: Side, options: CompareOptions) -> Profile:
    """The profile of a program, from a process and a folder of its own."""
    with side.place() as place, runner(place, side.label) as process:
        return _recorded(side, process, options)


def look_at_program(side: Side, device: str) -> Ended:
    """What a program computes, from a process and a folder of its own."""
    with side.place() as place, runner(place, side.label) as process:
        found: passes.Look = process.call(passes.looked_at, side.name, side.options, device)
    return Ended(fingerprints=found.fingerprints, interruption=found.interruption)


def _recorded(side: Side, process: RunnerProcess, options: CompareOptions) -> Profile:
    _tell(options, f"{side.label}: recording")
    run_options = RunOptions(
        target=side.options,
        device=options.device,
        gpu=options.gpu,
        is_timed=False,
        command=options.command,
    )
    label = None if side.revision is None else side.revision.label
    profile: Profile = process.call(passes.recorded, side.name, run_options, label)
    return profile


def _again(side: Side, options: CompareOptions) -> Ended | None:
    """The first program once more: whoever draws by the clock is found before anything is said."""
    if not options.verify_steps:
        return None
    _tell(options, f"{side.label}: once more")
    return look_at_program(side, options.device)


def _timed(
    sides: Sequence[Side],
    runners: Sequence[RunnerProcess],
    profiles: list[Profile],
    options: CompareOptions,
) -> tuple[list[Profile], Speedup | None]:
    """Clean passes, A B A B, after one of each that only warms up; None if one needs the simulated device."""
    found: list[list[CleanPass]] = [[], []]
    try:
        for turn in range(options.rounds + 1):
            for place, (side, process) in enumerate(zip(sides, runners, strict=True)):
                done = process.call(passes.timed, side.name, side.options, options.device)
                if turn:
                    found[place].append(done)
    except UnfinishedPassError:
        return profiles, None
    measured = [_measured(profile, each) for profile, each in zip(profiles, found, strict=True)]
    first, second = ([done.ms_per_step for done in each] for each in found)
    return measured, speedup_of(first, second)


def _measured(profile: Profile, found: Sequence[CleanPass]) -> Profile:
    steps = [step for each in found for step in each.steps]
    means = timing.region_means(steps)
    return replace(
        profile,
        time=replace(profile.time, measured_ms_per_step=timing.step_spread(steps)),
        regions={
            name: replace(region, measured_ms_per_step=means.get(name))
            for name, region in profile.regions.items()
        },
    )


def _ended(profile: Profile) -> Ended:
    return Ended(fingerprints=profile.fingerprints, interruption=profile.run.interruption)


def _are_complete(profiles: Sequence[Profile]) -> bool:
    return all(profile.run.interruption is None for profile in profiles)


def _uncommitted(sides: Sequence[Side]) -> tuple[str, ...]:
    """Which changes are in no revision, where a revision is compared."""
    if all(side.revision is None for side in sides):
        return ()
    names = git.uncommitted(Path.cwd())
    if not names:
        return ()
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    is_in = any(side.revision is None for side in sides)
    what = "are part of the program as it is now" if is_in else "are not compared"
    return (f"Uncommitted changes {what}: {names[0]}{more}.",)


def _tell(options: CompareOptions, phase: str) -> None:
    if options.progress is not None:
        options.progress(phase, 0, 0)
