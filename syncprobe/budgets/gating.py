"""Holds programs and saved profiles to the budgets of a project."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from syncprobe.budgets.judgement import GateResult, Judgement, Unjudged
from syncprobe.budgets.judging import judge
from syncprobe.budgets.project_file import BudgetError, read_budgets
from syncprobe.budgets.runs import GateOptions, RunEvidence, collect
from syncprobe.comparison.side_by_side import unlike
from syncprobe.config import PROJECT_FILE, find_project_file
from syncprobe.errors import SyncprobeError, UnknownNameError, did_you_mean
from syncprobe.profiles import storage
from syncprobe.profiles.model import Profile
from syncprobe.profiles.titles import title_of
from syncprobe.targets.marinenav import complete
from syncprobe.targets.options import described_names
from syncprobe.targets.places.git import checked_out, revision
from syncprobe.targets.resolve import TARGETS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from syncprobe.budgets.project_file import BudgetedRun

EXAMPLE: Final = "[tool.syncprobe.budget.train] with target = 'train' and syncs = 22"


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
    options = options or GateOptions()
    references = {name: _reference(budgets[name], options) for name in names}
    results = [
        result for profile, name in profiles for result in _read(profile, name, budgets, options)
    ]
    evidence = collect([budgets[name] for name in names], options)
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
    return next(iter(profile.doubts), None)


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
    profile: Profile, name: str, budgets: Mapping[str, BudgetedRun], options: GateOptions
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
        yield _judged(run, RunEvidence(profile=profile, allowed=None), _reference(run, options))


def _unlike(run: BudgetedRun, profile: Profile) -> Iterator[str]:
    """What a profile's run has that the budget's would not."""
    is_same = _is_same_target(run, profile.run.target)
    if not is_same:
        yield "target"
    if run.is_built_in:
        # Some targets work out by themselves what is not given.
        built: Any = TARGETS[run.target](run.options) if is_same else None
        chosen = complete(run.options, run.target) if built is None else built.options
        wanted = {name: getattr(chosen, name) for name in described_names(run.target)}
    else:
        given = {name: getattr(run.options, name) for name in described_names(None)}
        wanted = {name: value for name, value in given.items() if value is not None}
    wanted |= {"device": run.device} if run.device not in {None, "auto"} else {}
    wanted |= {"gpu": run.gpu} if run.gpu is not None else {}
    yield from (name for name, value in wanted.items() if getattr(profile.run, name) != value)


def _is_same_target(run: BudgetedRun, target: str) -> bool:
    if run.is_built_in or ":" in run.target:
        return run.target == target
    return os.path.normpath(run.folder / run.target) == os.path.normpath(run.folder / target)


def _judged(
    run: BudgetedRun, evidence: RunEvidence, reference: Profile | None
) -> Judgement | Unjudged:
    profile = evidence.profile
    doubt = doubt_about(profile)
    if doubt is None:
        doubt = _missing_region(run, profile)
    if doubt is None and reference is not None:
        doubt = _mismatch(run, profile, reference)
    if doubt is not None:
        return Unjudged(budget=run.budget.name, reason=doubt)
    return judge(profile, run.budget, reference, evidence.allowed, evidence.speedup)


def _missing_region(run: BudgetedRun, profile: Profile) -> str | None:
    """A limit on a region that never occurs would hold whatever the program does."""
    for limit in run.budget.limits:
        if limit.region is not None and limit.region not in profile.regions:
            known_ones = f"Its regions: {', '.join(profile.regions) or 'none'}."
            hint = did_you_mean(limit.region, profile.regions, known_ones)
            return (
                f"The run has no region {limit.region!r}, so its limits would always hold. {hint}"
            )
    return None


def _mismatch(run: BudgetedRun, profile: Profile, reference: Profile) -> str | None:
    """Why a profile cannot be compared with the committed one."""
    different = list(unlike(reference.run, profile.run))
    different += [name for name in ("patches", "device") if _differ(name, reference, profile)]
    remedy = f"Make it again: syncprobe gate --update {run.budget.name}"
    if run.revision is not None:
        remedy = "Commit what makes it the same run, or compare with a committed profile."
    if different:
        return f"{run.budget.against} is of another run ({', '.join(different)}). {remedy}"
    doubt = doubt_about(reference)
    return None if doubt is None else f"{run.budget.against}: {doubt} {remedy}"


def _differ(name: str, first: Profile, second: Profile) -> bool:
    return bool(getattr(first.run, name) != getattr(second.run, name))


def _reference(run: BudgetedRun, options: GateOptions) -> Profile | None:
    if run.revision is not None:
        return _at_revision(run, run.revision, options)
    if run.committed is None:
        return None
    if not run.committed.is_file():
        raise SyncprobeError(
            f"Budget {run.budget.name!r} compares with {run.budget.against}, which is not there. "
            f"Make it: syncprobe gate --update {run.budget.name}"
        )
    return storage.load(run.committed)


def _at_revision(run: BudgetedRun, name: str, options: GateOptions) -> Profile:
    """What the program did as it was there, in a folder of its own."""
    with checked_out(revision(name, run.folder)) as folder:
        counted = replace(run, folder=folder, budget=replace(run.budget, min_speedup=None))
        (found,) = collect([counted], options)
    if isinstance(found, Unjudged):
        raise SyncprobeError(
            f"Budget {run.budget.name!r} compares with {run.budget.against}: {found.reason}"
        )
    return found.profile
