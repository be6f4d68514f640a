"""The five steps of the plan, and what each cumulative level is worth on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.comparison.levels import PlanReport, PlanStep, levels_of
from syncprobe.comparison.variant_runs import CompareOptions
from syncprobe.comparison.variants import LEVELS, PIPELINES, run_levels
from syncprobe.targets import legacy_code

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOWN: Final = tuple(name for name in LEVELS if name != "optimized")
"""The last level has two names."""


def plan(options: CompareOptions | None = None, *, is_measured: bool = True) -> PlanReport:
    """Describe the plan and, unless told not to, run every level of it.

    Args:
        options: How to run the levels.
        is_measured: Whether to run them at all, which takes a minute or two.
    """
    options = options or CompareOptions()
    steps = tuple(_steps(PIPELINES[options.name or "train"]))
    if not is_measured:
        return PlanReport(steps=steps, levels=())
    runs = run_levels(SHOWN, options)
    levels = levels_of(
        [(name, profile, passes) for name, (profile, passes) in zip(SHOWN, runs, strict=True)]
    )
    return PlanReport(steps=steps, levels=levels)


def _steps(pipeline: str) -> Iterator[PlanStep]:
    for step in legacy_code.resolve(legacy_code.PLANS[pipeline]):
        yield PlanStep(
            number=step.number,
            name=step.name,
            title=step.title,
            replaces=step.replaces,
            removes=step.removes,
        )
