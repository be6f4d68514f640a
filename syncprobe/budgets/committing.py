"""Makes the profiles that budgets compare with again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from syncprobe.budgets.gating import doubt_about, is_file_name, known, load_budgets
from syncprobe.budgets.judgement import Unjudged
from syncprobe.budgets.runs import GateOptions, collect
from syncprobe.budgets.update import Update, committable, update_of
from syncprobe.errors import SyncprobeError
from syncprobe.profiles import storage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from syncprobe.budgets.project_file import BudgetedRun
    from syncprobe.profiles.model import Profile

REMEDY: Final = "Add max_regression = 0 and against = 'reports/….json' to it."


def update(
    names: Sequence[str] = (),
    *,
    config: Path | None = None,
    options: GateOptions | None = None,
) -> tuple[Update, ...]:
    """Run budgets and write the profiles that they compare with; no limit is changed.

    Args:
        names: Of budgets; nothing means all that compare with a committed profile.
        config: The project file; by default the nearest one.
        options: How to run.

    Raises:
        SyncprobeError: A run could not be made or judged; then nothing is written at all.
    """
    chosen = _chosen(names, load_budgets(config))
    evidence = collect([_without_speed(run) for run in chosen], options or GateOptions())
    updates = []
    for run, found in zip(chosen, evidence, strict=True):
        problem = found.reason if isinstance(found, Unjudged) else doubt_about(found.profile)
        if isinstance(found, Unjudged) or problem is not None:
            raise SyncprobeError(f"Nothing was written, because of {run.budget.name}: {problem}")
        updates.append((run, _update_of(run, found.profile)))
    for run, change in updates:
        if change.is_written and run.committed is not None:
            storage.save(change.after, run.committed)
    return tuple(change for _, change in updates)


def _chosen(names: Sequence[str], budgets: Mapping[str, BudgetedRun]) -> list[BudgetedRun]:
    for name in names:
        if name not in budgets and is_file_name(name):
            raise SyncprobeError(
                f"Profiles are only read, so {name} cannot be updated. Name a budget."
            )
        if known(name, budgets).committed is None:
            raise SyncprobeError(f"Budget {name!r} compares with no profile. {REMEDY}")
    chosen = [budgets[name] for name in dict.fromkeys(names or budgets)]
    compared = [run for run in chosen if run.committed is not None]
    if not compared:
        raise SyncprobeError(f"No budget compares with a profile. {REMEDY}")
    return compared


def _without_speed(run: BudgetedRun) -> BudgetedRun:
    """Only counts are committed, so nothing needs to be timed for them."""
    return replace(run, budget=replace(run.budget, min_speedup=None))


def _update_of(run: BudgetedRun, profile: Profile) -> Update:
    assert run.committed is not None, "only budgets with a committed profile are updated"
    try:
        before = storage.load(run.committed)
    except SyncprobeError:  # missing, damaged or too new: it is replaced
        before = None
    command = f"syncprobe gate --update {run.budget.name}"
    after = committable(replace(profile, run=replace(profile.run, command=command)))
    return update_of(run.budget.name, str(run.budget.against), before, after)
