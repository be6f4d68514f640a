"""Budgets as a project file states them: ``[tool.syncprobe.budget.<name>]``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from syncprobe.budgets.budget import FIGURES, PLURALS, Budget, Limit, figure_named
from syncprobe.comparison.variants import LEVELS, PIPELINES, REVISION
from syncprobe.config import CHOICES, project_table
from syncprobe.conversion import ConversionError, converted
from syncprobe.errors import SyncprobeError, UnknownNameError, did_you_mean
from syncprobe.targets.base import require_positive
from syncprobe.targets.marinenav import complete
from syncprobe.targets.options import OPTIONS, names_for, read_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from syncprobe.targets.options import TargetOptions

TABLE: Final = "tool.syncprobe.budget"
SETTINGS: Final = ("mode", "device", "gpu")
RUN_KEYS: Final[Mapping[str, Any]] = {
    "target": str,
    "arguments": tuple[str, ...],
    **{name: facts.kind for name, facts in OPTIONS.items()},
    **dict.fromkeys(SETTINGS, str),
}
"""What to run: the options of ``syncprobe profile``."""
GATE_KEYS: Final[Mapping[str, Any]] = {
    "max_regression": float,
    "against": str,
    "min_speedup": float,
    "over": str,
}
BUILT_IN_ONLY: Final = (*(name for name in OPTIONS if name not in names_for(None)), "mode")
LIMIT_NAMES: Final = (*FIGURES, *PLURALS)


class BudgetError(SyncprobeError):
    """A budget that does not make sense."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetedRun:
    """A budget, and the run that is held to it."""

    budget: Budget
    target: str
    options: TargetOptions
    mode: str | None = None
    """None, like the next two: what the settings say."""
    device: str | None = None
    gpu: str | None = None
    folder: Path
    """Where it runs and what its paths are relative to: that of the project file."""

    @property
    def committed(self) -> Path | None:
        """The file of the committed profile."""
        against = self.budget.against
        return None if against is None or self.revision else self.folder / against

    @property
    def revision(self) -> str | None:
        """The revision of the program that it is compared with, instead of a committed profile."""
        against = self.budget.against or ""
        return against.removeprefix(REVISION) if against.startswith(REVISION) else None

    @property
    def is_built_in(self) -> bool:
        """The target is one of our own, which has variants."""
        return self.target in PIPELINES


def read_budgets(path: Path) -> dict[str, BudgetedRun]:
    """The budgets of a project file, by name and in its order; none if it has none.

    Raises:
        BudgetError: One of them has a key or a value that it cannot have.
        SettingsError: The file cannot be read.
    """
    tables = project_table(path).get("budget", {})
    if not isinstance(tables, dict):
        raise BudgetError(f"[{TABLE}] in {path} must hold one table per budget.")
    return {name: _budgeted_run(name, table, path) for name, table in tables.items()}


def _budgeted_run(name: str, table: object, path: Path) -> BudgetedRun:
    place = f"[{TABLE}.{name}] of {path}"
    if not isinstance(table, dict):
        raise BudgetError(f"{place} must be a table.")
    _refuse_unknown(table, (*RUN_KEYS, *GATE_KEYS, *LIMIT_NAMES, "region", "site"), place)
    values = _typed(table, {**RUN_KEYS, **GATE_KEYS}, place)
    try:
        run = BudgetedRun(
            budget=Budget(
                name=name,
                limits=tuple(_limits(table, place)),
                **{key: values[key] for key in GATE_KEYS if key in values},
            ),
            target=_target(values, path.parent),
            options=read_options(values, arguments=values.get("arguments", ())),
            folder=path.parent,
            **{key: values[key] for key in SETTINGS if key in values},
        )
        _check_run(run, values)
    except BudgetError:
        raise
    except SyncprobeError as error:
        raise BudgetError(f"In {place}: {error}") from error
    _check_budget(run, values, place)
    return run


def _target(values: Mapping[str, Any], folder: Path) -> str:
    target: str = values.get("target", "")
    if not target:
        raise SyncprobeError("It does not say what to run. Add target = 'train', or a script.")
    is_program = target.endswith(".py") or ":" in target or (folder / target).is_file()
    if target not in PIPELINES and not is_program:
        known = (*PIPELINES, "path/to/script.py", "module:function")
        raise UnknownNameError("target", target, known)
    return target


def _check_run(run: BudgetedRun, values: Mapping[str, Any]) -> None:
    for key, choices in CHOICES.items():
        if values.get(key, choices[0]) not in choices:
            raise UnknownNameError(key, values[key], choices)
    if run.is_built_in:
        complete(run.options, run.target)
        return
    given = [key for key in BUILT_IN_ONLY if key in values]
    if given:
        facts = OPTIONS.get(given[0])  # the mode is a setting, for whatever has variants
        takers = (facts.targets if facts else None) or tuple(PIPELINES)
        raise SyncprobeError(
            f"{given[0]!r} is for {' and '.join(takers)}, not for {run.target}. "
            "A script takes its own options as arguments = [...]."
        )
    require_positive("steps", run.options.steps or 1)
    require_positive("warmup", run.options.warmup or 0, minimum=0)


def _check_budget(run: BudgetedRun, values: Mapping[str, Any], place: str) -> None:
    budget = run.budget
    problem = None
    if not budget.limits and budget.max_regression is None and budget.min_speedup is None:
        problem = "limits nothing. Add a limit such as syncs = 1"
    elif budget.max_regression is not None and not 0 <= budget.max_regression < math.inf:
        problem = (
            f"has max_regression = {budget.max_regression:g}, which must be 0 or more and finite"
        )
    elif budget.max_regression is not None and budget.against is None:
        problem = "has max_regression but nothing to compare with. Add against = 'reports/….json' or 'git:main'"
    elif budget.min_speedup is not None and not 0 < budget.min_speedup < math.inf:
        problem = f"has min_speedup = {budget.min_speedup:g}, which must be more than 0 and finite"
    elif budget.min_speedup is not None and not run.is_built_in:
        problem = f"has min_speedup, but {run.target} has no other variant to be faster than"
    elif "over" in values and budget.min_speedup is None:
        problem = "says over = … but not how much faster. Add min_speedup"
    elif budget.over not in LEVELS:
        raise BudgetError(f"In {place}: {UnknownNameError('variant', budget.over, tuple(LEVELS))}")
    elif budget.min_speedup is not None and LEVELS[budget.over] == run.options.patches:
        problem = f"would time {budget.over} against itself. Choose another variant with over = …"
    if problem is not None:
        raise BudgetError(f"{place} {problem}.")


def _limits(table: Mapping[str, Any], place: str) -> Iterator[Limit]:
    yield from _limits_of(table, {}, place)
    regions = table.get("region", {})
    if not isinstance(regions, dict) or not all(isinstance(row, dict) for row in regions.values()):
        raise BudgetError(f"In {place}, 'region' must hold one table per region.")
    for region, row in regions.items():
        where = f"region {region!r} of {place}"
        _refuse_unknown(row, LIMIT_NAMES, where)
        yield from _limits_of(row, {"region": region}, where)
    sites = table.get("site", [])
    if not isinstance(sites, list) or not all(isinstance(row, dict) for row in sites):
        raise BudgetError(f"In {place}, 'site' must be a list of tables, written [[…site]].")
    for row in sites:
        yield from _site_limits(row, place)


def _site_limits(row: Mapping[str, Any], place: str) -> Iterator[Limit]:
    where = f"a site of {place}"
    _refuse_unknown(row, ("path", "function", *LIMIT_NAMES), where)
    scope = _typed(row, {"path": str, "function": str}, where)
    if not scope.get("path"):
        raise BudgetError(f"In {where}, there is no 'path'. Add the file, or a pattern of files.")
    limits = list(_limits_of(row, scope, where))
    if not limits:
        raise BudgetError(f"{where} limits nothing. Add a limit such as syncs = 1.")
    yield from limits


def _limits_of(row: Mapping[str, Any], scope: Mapping[str, Any], place: str) -> Iterator[Limit]:
    given = _typed(row, dict.fromkeys(LIMIT_NAMES, float), place)
    for key, value in given.items():
        if PLURALS.get(key) in given:
            raise BudgetError(f"In {place}, {key!r} and {PLURALS[key]!r} are the same figure.")
        if not 0 <= value < math.inf:
            wanted = "0 or more" if value < 0 else "a finite number"
            raise BudgetError(f"In {place}, {key!r} is {value:g}; a limit is {wanted}.")
        yield Limit(figure=figure_named(key), at_most=value, **scope)


def _typed(row: Mapping[str, Any], types: Mapping[str, Any], place: str) -> dict[str, Any]:
    """The entries of these names, each of its type."""
    found = {}
    for key, hint in types.items():
        if key in row:
            try:
                found[key] = converted(row[key], hint, repr(key))
            except ConversionError as error:
                raise BudgetError(f"In {place}, {error}.") from error
    return found


def _refuse_unknown(row: Mapping[str, Any], known: Sequence[str], place: str) -> None:
    for key in row:
        if key not in known:
            hint = did_you_mean(key, known, f"Choose from: {', '.join(known)}.")
            raise BudgetError(f"In {place}, there is an unknown key {key!r}. {hint}")
