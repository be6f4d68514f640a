"""Runs what budgets are about, each in a process of its own, so that none can change what another counts."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from syncprobe.analysis.judgement import Unjudged
from syncprobe.comparing import LEVELS
from syncprobe.config import Settings
from syncprobe.errors import SyncprobeError
from syncprobe.findings.source import Excuse, SourceLines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from syncprobe.analysis.amounts import Excused
    from syncprobe.analysis.model import Profile
    from syncprobe.analysis.ratio import Speedup
    from syncprobe.budgets import BudgetedRun
    from syncprobe.measuring import CleanPass
    from syncprobe.running import Progress, RunOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """How to run what budgets are about."""

    settings: Settings = field(default_factory=Settings)
    """For what a budget leaves open."""
    jobs: int = 1
    """Processes at a time. Counts do not depend on it; what is timed always runs alone."""
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a run gave."""

    profile: Profile
    allowed: Excused | None
    """What the source excuses; None leaves it to the findings."""
    speedup: Speedup | None = None


def collect(runs: Sequence[BudgetedRun], options: GateOptions) -> list[Evidence | Unjudged]:
    """Run everything; a run that fails says why and stops no other."""
    found: dict[str, Evidence | Unjudged] = {}
    for timed in (False, True):
        chosen = [run for run in runs if (run.budget.min_speedup is not None) is timed]
        # Two programs at a time would slow each other down, and not by the same amount.
        with ThreadPoolExecutor(1 if timed else options.jobs) as threads:
            results = threads.map(lambda run: _in_process(run, options), chosen)
            found |= {run.budget.name: each for run, each in zip(chosen, results, strict=True)}
    return [found[run.budget.name] for run in runs]


def measure(run: BudgetedRun, settings: Settings) -> Evidence | Unjudged:
    """Run what a budget is about, here and now, in the folder of its project file."""
    try:
        with contextlib.chdir(run.folder):
            return _measure(run, settings)
    except SyncprobeError as error:
        return Unjudged(budget=run.budget.name, reason=str(error))
    except OSError as error:
        return Unjudged(budget=run.budget.name, reason=f"{run.folder}: {error.strerror}.")


def _in_process(run: BudgetedRun, options: GateOptions) -> Evidence | Unjudged:
    if options.progress is not None:
        options.progress(f"running {run.budget.name}", 0, 0)
    # Spawned, not forked: it starts with nothing that an earlier run has imported or changed.
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(1, context, initializer=_leave_stdout_alone) as pool:
            return pool.submit(measure, run, options.settings).result()
    except BrokenProcessPool:
        reason = f"The process that ran {run.target} ended without an answer."
        return Unjudged(budget=run.budget.name, reason=reason)


def _leave_stdout_alone() -> None:
    """What a program prints is not the result of a gate: it goes to standard error, its children's too."""
    os.dup2(2, 1)


def _measure(run: BudgetedRun, settings: Settings) -> Evidence:
    from syncprobe import running  # it imports torch
    from syncprobe.targets import find_target

    options = _run_options(run, settings)
    speedup, clean = _race(run, options) if run.budget.min_speedup is not None else (None, None)
    profile = running.run(run.target, options, clean=clean)
    root = find_target(run.target, options.target).root
    return Evidence(profile=profile, allowed=_allowed(profile, root), speedup=speedup)


def _run_options(run: BudgetedRun, settings: Settings) -> RunOptions:
    from syncprobe.running import RunOptions  # as above

    return RunOptions(
        target=replace(run.options, mode=run.mode or settings.mode),
        device=run.device or settings.device,
        gpu=run.gpu or settings.gpu,
        is_timed=False,
        command=f"syncprobe gate {run.budget.name}",
    )


def _race(run: BudgetedRun, options: RunOptions) -> tuple[Speedup, CleanPass]:
    """Time the run and the variant it must be faster than, in turns until it is clear which way it goes."""
    from syncprobe import measuring  # as above
    from syncprobe.recording.session import resolve_device
    from syncprobe.speed_gate import race
    from syncprobe.targets import find_target

    device = resolve_device(options.device)
    other = find_target(run.target, replace(options.target, patches=LEVELS[run.budget.over]))
    own = find_target(run.target, options.target)
    passes: list[CleanPass] = []

    def own_ms() -> float:
        passes.append(measuring.clean_pass(own, device))
        return passes[-1].ms_per_step

    verdict = race(
        lambda: measuring.clean_pass(other, device).ms_per_step,
        own_ms,
        at_least=run.budget.min_speedup or 1.0,
    )
    # The first pair only warmed up.
    return verdict.speedup, measuring.pooled(passes[1:])


def _allowed(profile: Profile, root: Path) -> Excused:
    """What the source excuses, what must be there included: that is no finding."""
    source = SourceLines(root)
    return frozenset(
        (site.site.path, site.site.line, site.rule)
        for site in profile.sites
        if site.rule is not None and source.excuse(site.site, site.rule) is Excuse.GIVEN
    )
