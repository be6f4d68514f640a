"""A test as a recording, and the limits it is held to: what the pytest plugin is made of."""

from __future__ import annotations

import functools
import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from syncprobe.budgets.amounts import amount_of, excused_in_source
from syncprobe.budgets.budget import Budget, Limit, figure_named
from syncprobe.budgets.judging import judge
from syncprobe.errors import SyncprobeError
from syncprobe.findings import SourceLines
from syncprobe.profiles.quantities import RATES
from syncprobe.recording.assembling import Extras, describe_run, profile_of
from syncprobe.recording.session import Recording
from syncprobe.rendering.gates.breaches import breaches

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from syncprobe.config import Settings
    from syncprobe.profiles.model import Profile

STEP: Final = "step"
TEST: Final = "test"


class OverBudgetError(AssertionError):
    """A test did more than it may; the message lists the lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What a test may do."""

    limits: tuple[Limit, ...]
    per: str | None
    """``step`` or ``test``; None is per step if the test marks steps."""


def parse_allowance(arguments: Mapping[str, object]) -> Allowance:
    """The limits that a marker or a call of ``check`` spells out.

    Raises:
        SyncprobeError: A limit or a value that means nothing.
    """
    chosen = dict(arguments)
    per = chosen.pop("per", None)
    if per not in {None, STEP, TEST}:
        raise SyncprobeError(f"per={per!r} means nothing; choose {STEP!r} or {TEST!r}.")
    limits = tuple(_limit(name, value) for name, value in chosen.items())
    return Allowance(limits=limits, per=None if per is None else str(per))


class RecordedTest(Recording):
    """The recording of one test; the fixture ``syncprobe`` gives it.

    Args:
        name: The test's node id.
        settings: Device and device spec.
        root: Folder that paths are shown relative to.
    """

    def __init__(self, name: str, settings: Settings, root: Path) -> None:
        super().__init__(device=settings.device, gpu=settings.gpu, root=root)
        self._name = name
        self.interruption: str | None = None
        """Why the test did not run to its end."""
        self.is_over_budget = False
        """It failed because it did more than it may."""

    def called_from_here(self, test: Callable[..., Any]) -> Callable[..., Any]:
        """The test as a function whose callers, pytest and its plugins, are left out of all stacks."""

        @functools.wraps(test)
        def call(*arguments: Any, **named: Any) -> Any:
            __tracebackhide__ = True
            self._finder.outermost = sys._getframe()
            try:
                return test(*arguments, **named)
            except BaseException as error:
                self.interruption = type(error).__name__
                self.is_over_budget = isinstance(error, OverBudgetError)
                raise

        return call

    def profile(self) -> Profile:
        """What was recorded so far, as a profile."""
        run = describe_run(
            target=self._name,
            device=self.device,
            gpu=self.gpu.name,
            command=f"pytest {self._name}",
        )
        run = replace(run, is_complete=self.interruption is None, interruption=self.interruption)
        return profile_of(self, Extras(run=run))

    def check(self, *, per: str | None = None, **limits: float) -> None:
        """Fail if the test did more than it may, so far.

        Args:
            per: What limits are per: ``step``, or ``test`` for totals; per step if steps were marked.
            limits: Figures and the most they may be, such as ``syncs=1`` or ``launches=20``.

        Raises:
            OverBudgetError: It did.
        """
        __tracebackhide__ = True
        complaint = self.complaint(parse_allowance({**limits, "per": per}))
        if complaint is not None:
            raise OverBudgetError(complaint)

    def complaint(self, allowance: Allowance) -> str | None:
        """What the test did beyond what is allowed, so far; None if it did not."""
        profile = self.profile()
        if allowance.per == STEP and not profile.run.steps:
            return (
                "The limits are per step, but the test marked none: write 'with syncprobe.step():' "
                "around what repeats, or per='test'."
            )
        is_total = allowance.per == TEST or not profile.run.steps
        judgement = judge(
            as_one_run(profile) if is_total else profile,
            Budget(name=self._name, limits=allowance.limits),
            allowed=excused_in_source(profile, SourceLines(self.root or Path.cwd())),
        )
        return None if judgement.holds else breaches(judgement, TEST if is_total else STEP)


def as_one_run(profile: Profile) -> Profile:
    """The same profile with totals for rates, what happened between steps included."""
    steps = max(profile.run.steps, 1)
    sites = tuple(
        replace(
            site,
            per_step=float(site.count),
            needed_per_step=site.needed_per_step * steps,
        )
        for site in profile.sites
    )
    totals = {figure: sum(amount_of(site, figure, 0) for site in sites) for figure in RATES}
    return replace(profile, run=replace(profile.run, steps=0), sites=sites, per_step=totals)


def _limit(name: str, value: object) -> Limit:
    figure = figure_named(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise SyncprobeError(f"{name}={value!r} is no limit; give a number from 0 up.")
    return Limit(figure=figure, at_most=float(value))
