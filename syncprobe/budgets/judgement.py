"""What came of holding profiles to budgets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from syncprobe.budgets.budget import Budget, Limit
    from syncprobe.comparison.ratio import Speedup
    from syncprobe.events import CallSite, EventKind
    from syncprobe.profiles.model import Run, SyncClass

TOLERANCE: Final = 1e-6
"""Rates are kept to six digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteShare:
    """What one site adds to a figure."""

    site: CallSite
    kind: EventKind
    operation: str
    region: str
    per_step: float
    """Per run if the program marked no steps."""
    is_bytes: bool = False
    """The figure counts bytes, not events."""
    before: float | None = None
    """The same in the profile it is compared with, 0 if the site is new; None without such a profile."""
    sync_class: SyncClass | None = None
    """None for events that do not block."""
    rule: str | None = None
    plan_step: int | None = None
    title: str = ""
    """What the finding at this line is called; empty if there is none."""
    advice: str = ""
    """What to do about it; empty if there is no finding."""
    callers: tuple[CallSite, ...] = ()
    """The lines that called the function it is in, most frequent first."""
    is_allowed: bool = False
    """The source excuses it, so it counts against no limit."""

    @property
    def growth(self) -> float:
        """How much more it is than it was; 0 if nobody knows what it was."""
        more = 0.0 if self.before is None else self.per_step - self.before
        return more if more > TOLERANCE else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A limit and the figure that was held to it."""

    limit: Limit
    value: float
    """Per step, without what is excused."""
    lines: tuple[SiteShare, ...] = ()
    """What the figure is made of, worst first; left out where the limit holds."""

    @property
    def holds(self) -> bool:
        """The figure is within the limit."""
        return self.value <= self.limit.at_most + TOLERANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedReading:
    """A measured speedup and the least it may be."""

    at_least: float
    over: str
    speedup: Speedup | None
    """None if the profile was only read, so that nothing could be measured."""

    @property
    def holds(self) -> bool | None:
        """Whether it is reached; None if the measurement cannot tell or there is none."""
        return None if self.speedup is None else self.speedup.ratio.at_least(self.at_least)

    @property
    def is_missed(self) -> bool:
        """It was measured, and it is not sure to be reached."""
        return self.speedup is not None and self.holds is not True


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One profile held to one budget."""

    budget: Budget
    run: Run
    readings: tuple[Reading, ...]
    speed: SpeedReading | None = None
    """None if the budget asks for none."""
    excused: tuple[SiteShare, ...] = ()
    """What would count if the source did not excuse it."""
    warnings: tuple[str, ...] = ()

    @property
    def rate_noun(self) -> str:
        """What rates are per: the step, or the run if the program marked none."""
        return "step" if self.run.steps else "run"

    @property
    def breaches(self) -> tuple[Reading, ...]:
        """The limits that do not hold."""
        return tuple(reading for reading in self.readings if not reading.holds)

    @property
    def holds(self) -> bool:
        """Every limit holds. A speed that was measured but could not be decided does not."""
        return not self.breaches and (self.speed is None or not self.speed.is_missed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unjudged:
    """A budget that nothing could be held to."""

    budget: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """What became of all budgets."""

    judgements: tuple[Judgement, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()

    @property
    def failed(self) -> tuple[Judgement, ...]:
        """The judgements that found too much."""
        return tuple(judgement for judgement in self.judgements if not judgement.holds)

    @property
    def holds(self) -> bool:
        """All budgets were judged, and hold."""
        return not self.failed and not self.unjudged
