"""Runs what budgets are about, each in a process of its own, so that none can change what another counts."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from syncprobe.budgets.amounts import excused_in_source
from syncprobe.budgets.children import Children
from syncprobe.budgets.judgement import Unjudged
from syncprobe.comparison.variants import LEVELS
from syncprobe.config import Settings
from syncprobe.errors import SyncprobeError
from syncprobe.findings.source import SourceLines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.budgets.amounts import Excused
    from syncprobe.budgets.project_file import BudgetedRun
    from syncprobe.comparison.ratio import Speedup
    from syncprobe.profiles.model import Profile
    from syncprobe.targets.clean_passes import CleanPass
    from syncprobe.targets.running import Progress, RunOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """How to run what budgets are about."""

    settings: Settings = field(default_factory=Settings)
    """For what a budget leaves open."""
    jobs: int = 1
    """Processes at a time. Counts do not depend on it; what is timed always runs alone."""
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvidence:
    """What a run gave."""

    profile: Profile
    allowed: Excused | None
    """What the source excuses; None leaves it to the findings."""
    speedup: Speedup | None = None


def collect(runs: Sequence[BudgetedRun], options: GateOptions) -> list[RunEvidence | Unjudged]:
    """Run everything; a run that fails says why and stops no other."""
    found: dict[str, RunEvidence | Unjudged] = {}
    children = Children()
    for timed in (False, True):
        chosen = [run for run in runs if (run.budget.min_speedup is not None) is timed]
        # Two programs at a time would slow each other down, and not by the same amount.
        with ThreadPoolExecutor(1 if timed else options.jobs) as threads:
            results = threads.map(lambda run: _in_process(run, options, children), chosen)
            try:
                found |= {run.budget.name: each for run, each in zip(chosen, results, strict=True)}
            except BaseException:
                # Whoever is interrupted does not wait for programs to end by themselves.
                threads.shutdown(wait=False, cancel_futures=True)
                children.kill()
                raise
    return [found[run.budget.name] for run in runs]


def measure(run: BudgetedRun, settings: Settings) -> RunEvidence | Unjudged:
    """Run what a budget is about, here and now, in the folder of its project file."""
    try:
        with contextlib.chdir(run.folder):
            return _measure(run, settings)
    except SyncprobeError as error:
        return Unjudged(budget=run.budget.name, reason=str(error))
    except OSError as error:
        return Unjudged(budget=run.budget.name, reason=f"{run.folder}: {error.strerror}.")


def _in_process(
    run: BudgetedRun, options: GateOptions, children: Children
) -> RunEvidence | Unjudged:
    if options.progress is not None:
        options.progress(f"running {run.budget.name}", 0, 0)
    answer = children.ask(measure, run, options.settings)
    if answer is None:
        reason = f"The process that ran {run.target} ended without an answer."
        return Unjudged(budget=run.budget.name, reason=reason)
    return answer


def _measure(run: BudgetedRun, settings: Settings) -> RunEvidence:
    from syncprobe.targets import (
        find_target,
        running,  # it imports torch
    )

    options = _run_options(run, settings)
    speedup, clean = _race(run, options) if run.budget.min_speedup is not None else (None, None)
    profile = running.run(run.target, options, clean=clean)
    root = find_target(run.target, options.target).root
    return RunEvidence(
        profile=profile, allowed=excused_in_source(profile, SourceLines(root)), speedup=speedup
    )


def _run_options(run: BudgetedRun, settings: Settings) -> RunOptions:
    from syncprobe.targets.running import RunOptions  # as above

    return RunOptions(
        target=replace(run.options, mode=run.mode or settings.mode),
        device=run.device or settings.device,
        gpu=run.gpu or settings.gpu,
        is_timed=False,
        command=f"syncprobe gate {run.budget.name}",
    )


def _race(run: BudgetedRun, options: RunOptions) -> tuple[Speedup, CleanPass]:
    """Time the run and the variant it must be faster than, in turns until it is clear which way it goes."""
    from syncprobe.comparison.race import race
    from syncprobe.recording.session import resolve_device
    from syncprobe.targets import (
        clean_passes,  # as above
        find_target,
    )

    device = resolve_device(options.device)
    other = find_target(run.target, replace(options.target, patches=LEVELS[run.budget.over]))
    own = find_target(run.target, options.target)
    passes: list[CleanPass] = []

    def own_ms() -> float:
        passes.append(clean_passes.clean_pass(own, device))
        return passes[-1].ms_per_step

    verdict = race(
        lambda: clean_passes.clean_pass(other, device).ms_per_step,
        own_ms,
        at_least=run.budget.min_speedup or 1.0,
    )
    # The first pair only warmed up.
    return verdict.speedup, clean_passes.pooled(passes[1:])
