"""Holds programs and saved profiles to the budgets of a project."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe import storage
from syncprobe.analysis.compare import unlike
from syncprobe.analysis.gate import judge
from syncprobe.analysis.judgement import GateResult, Judgement, Unjudged
from syncprobe.analysis.model import Profile
from syncprobe.budgets import BudgetError, read_budgets
from syncprobe.config import PROJECT_FILE, find_project_file
from syncprobe.errors import SyncprobeError, UnknownNameError
from syncprobe.gated_runs import Evidence, GateOptions, collect
from syncprobe.rendering.summary import title_of, warnings_of
from syncprobe.targets.marinenav import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from syncprobe.budgets import BudgetedRun

EXAMPLE: Final = "[tool.syncprobe.budget.train] with target = 'train' and syncs = 22"
SCENARIO: Final = ("agent", "robots", "cores", "obstacles", "seed", "steps", "warmup", "patches")


def gate(
    what: Sequence[str | Path | Profile] = (),
    *,
    config: Path | None = None,
    options: GateOptions | None = None,
) -> GateResult:
    """Hold what is named to its budgets.

    Args:
        what: Names of budgets, which are run now; profiles and files of profiles, which are held to every
            budget that is about such a run. Nothing runs all budgets.
        config: The project file; by default the nearest one.
        options: How to run.
    """
    budgets = load_budgets(config)
    names, profiles = _sorted_out(what, budgets)
    references = {name: _reference(budgets[name]) for name in names}
    results = [result for profile, name in profiles for result in _read(profile, name, budgets)]
    evidence = collect([budgets[name] for name in names], options or GateOptions())
    results += [
        found if isinstance(found, Unjudged) else _judged(budgets[name], found, references[name])
        for name, found in zip(names, evidence, strict=True)
    ]
    return GateResult(
        judgements=tuple(result for result in results if isinstance(result, Judgement)),
        unjudged=tuple(result for result in results if isinstance(result, Unjudged)),
    )


def load_budgets(config: Path | None = None) -> dict[str, BudgetedRun]:
    """The budgets of a project file, by default the nearest one.

    Raises:
        BudgetError: There are none; the message shows how to write one.
    """
    path = config or find_project_file(Path.cwd())
    if path is None:
        raise BudgetError(f"There is no {PROJECT_FILE} here. Write a budget in one: {EXAMPLE}.")
    if config is not None and not config.is_file():
        raise BudgetError(f"There is no file {config}. Name a project file with budgets in it.")
    budgets = read_budgets(path.absolute())
    if not budgets:
        raise BudgetError(f"There is no budget in {path}. Write one: {EXAMPLE}.")
    return budgets


def is_file_name(text: str | Path) -> bool:
    """It names a file, whether or not that file is there."""
    return Path(text).suffix == ".json" or Path(text).is_file()


def known(name: str, budgets: Mapping[str, BudgetedRun]) -> BudgetedRun:
    """The budget of a name."""
    if name not in budgets:
        raise UnknownNameError("budget", name, tuple(budgets))
    return budgets[name]


def doubt_about(profile: Profile) -> str | None:
    """Why no limit can be held against a profile; None if it can."""
    return next(iter(warnings_of(profile)), None)


def _sorted_out(
    what: Sequence[str | Path | Profile], budgets: Mapping[str, BudgetedRun]
) -> tuple[tuple[str, ...], list[tuple[Profile, str]]]:
    """Names of budgets, and profiles with what to call them."""
    names, profiles = [], []
    for each in what:
        if isinstance(each, Profile):
            profiles.append((each, "the profile"))
        elif str(each) in budgets:
            names.append(str(each))
        elif is_file_name(each):
            profiles.append((storage.load(each), str(each)))
        else:
            known(str(each), budgets)
    return tuple(dict.fromkeys(names if what else budgets)), profiles


def _read(
    profile: Profile, name: str, budgets: Mapping[str, BudgetedRun]
) -> Iterator[Judgement | Unjudged]:
    """Hold a saved profile to all budgets that are about such a run."""
    unlikenesses = {key: tuple(_unlike(run, profile)) for key, run in budgets.items()}
    matching = [budgets[key] for key, differing in unlikenesses.items() if not differing]
    if not matching:
        nearest = min(unlikenesses, key=lambda key: len(unlikenesses[key]))
        raise SyncprobeError(
            f"No budget is about {name} ({title_of(profile.run)}). The nearest, {nearest!r}, differs "
            f"in {', '.join(unlikenesses[nearest])}."
        )
    for run in matching:
        yield _judged(run, Evidence(profile=profile, allowed=None), _reference(run))


def _unlike(run: BudgetedRun, profile: Profile) -> Iterator[str]:
    """What a profile's run has that the budget's would not."""
    if not _is_same_target(run, profile.run.target):
        yield "target"
    if run.is_built_in:
        scenario = Scenario.from_options(run.options)
        wanted = {name: getattr(scenario, name) for name in SCENARIO}
    else:
        given = {name: getattr(run.options, name) for name in ("steps", "warmup")}
        wanted = {name: value for name, value in given.items() if value is not None}
    wanted |= {"device": run.device} if run.device not in {None, "auto"} else {}
    wanted |= {"gpu": run.gpu} if run.gpu is not None else {}
    yield from (name for name, value in wanted.items() if getattr(profile.run, name) != value)


def _is_same_target(run: BudgetedRun, target: str) -> bool:
    if run.is_built_in or ":" in run.target:
        return run.target == target
    return os.path.normpath(run.folder / run.target) == os.path.normpath(run.folder / target)


def _judged(
    run: BudgetedRun, evidence: Evidence, reference: Profile | None
) -> Judgement | Unjudged:
    profile = evidence.profile
    doubt = doubt_about(profile)
    if doubt is None and reference is not None:
        doubt = _mismatch(run, profile, reference)
    if doubt is not None:
        return Unjudged(budget=run.budget.name, reason=doubt)
    return judge(profile, run.budget, reference, evidence.allowed, evidence.speedup)


def _mismatch(run: BudgetedRun, profile: Profile, reference: Profile) -> str | None:
    """Why a profile cannot be compared with the committed one."""
    different = list(unlike(reference.run, profile.run))
    different += [name for name in ("patches", "device") if _differ(name, reference, profile)]
    remedy = f"Make it again: syncprobe gate --update {run.budget.name}"
    if different:
        return f"{run.budget.against} is of another run ({', '.join(different)}). {remedy}"
    doubt = doubt_about(reference)
    return None if doubt is None else f"{run.budget.against}: {doubt} {remedy}"


def _differ(name: str, first: Profile, second: Profile) -> bool:
    return bool(getattr(first.run, name) != getattr(second.run, name))


def _reference(run: BudgetedRun) -> Profile | None:
    if run.committed is None:
        return None
    if not run.committed.is_file():
        raise SyncprobeError(
            f"Budget {run.budget.name!r} compares with {run.budget.against}, which is not there. "
            f"Make it: syncprobe gate --update {run.budget.name}"
        )
    return storage.load(run.committed)
