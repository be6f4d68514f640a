"""The profile: what a run did, by line, region and step. Everything shown or gated is read from it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from syncprobe.events import CallSite, EventKind

if TYPE_CHECKING:
    from pathlib import Path

BLOCKING_KINDS: Final = (
    EventKind.SCALAR_READ,
    EventKind.COPY_TO_HOST,
    EventKind.COPY_TO_DEVICE,
    EventKind.IMPLICIT_SYNC,
    EventKind.EXPLICIT_SYNC,
)


class SyncClass(enum.StrEnum):
    """Whether a sync has to be there."""

    NEEDED = "needed"
    """An action must reach an environment on the host: one read-back per step."""
    DEFERRABLE = "deferrable"
    """A value for a log line: collect it on the device and read it now and then."""
    AVOIDABLE = "avoidable"
    """Everything else."""


Counts = Mapping[str, int]
Rates = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What was run, and how."""

    target: str
    agent: str | None = None
    pipeline: str | None = None
    robots: int | None = None
    cores: int | None = None
    obstacles: int | None = None
    seed: int | None = None
    patches: tuple[int, ...] = ()
    device: str
    gpu: str
    steps: int
    """Steps recorded; 0 if the program marked none, and then rates are per run."""
    warmup: int = 0
    torch: str
    python: str
    command: str
    is_complete: bool = True
    """The program ran to its end."""
    exit_code: int = 0
    """What the program would have exited with."""
    interruption: str | None = None
    """Why it did not run to its end."""
    notes: tuple[str, ...] = ()
    """What has to be known to read the figures, such as what a trace cannot tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """One way a site was reached: the user frames above it, innermost first."""

    stack: tuple[CallSite, ...]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What one line did, for one kind of event, operation and region."""

    site: CallSite
    kind: EventKind
    operation: str
    entry: str
    """The library function the line called on the way to the operation; empty if it called it itself."""
    region: str
    is_blocking: bool
    count: int
    per_step: float
    nbytes: int
    stall_us_modelled: float
    """Per step: time the host waited for the device and the transfer."""
    host_us_modelled: float
    """Per step: all modelled host time, launches included."""
    needed_per_step: float = 0.0
    """How much of ``per_step`` hands decisions to the environment."""
    sync_class: SyncClass | None = None
    """None for events that do not block."""
    rule: str | None = None
    plan_step: int | None = None
    callers: tuple[Caller, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """What one region of the step did and cost."""

    counts: Counts
    per_step: Rates
    measured_ms_per_step: float | None = None
    modelled_ms_per_step: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A measured quantity over the steps of a run."""

    median: float
    p10: float
    p90: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """What a step took, and what it is modelled to take."""

    measured_ms_per_step: Spread | None = None
    modelled_ms_per_step: float | None = None
    device_busy: float | None = None
    """Modelled share of the step in which the device works."""
    spec: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """What would be gained if something cost nothing (Amdahl)."""

    what: str
    share: float
    speedup_if_free: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A rule that applies to a line."""

    rule: str
    title: str
    site: CallSite
    region: str
    count: int
    per_step: float
    plan_step: int
    advice: str
    cost_us_modelled: float
    """Per step; what the finding's events are modelled to cost the host."""
    is_allowed: bool = False
    """The source excuses it with an allow comment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """A line of a hot function: what it says, what it took and what it did."""

    site: CallSite
    text: str
    hits_per_step: float
    measured_us_per_step: float
    """By line_profiler, which slows the program down: good for shares, not for totals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One event on the modelled clocks; times count from the beginning of the step."""

    site: CallSite
    kind: EventKind
    operation: str
    region: str
    is_blocking: bool
    nbytes: int
    start_us: float
    """When the host reached it."""
    host_us: float
    """How long it kept the host; conversions are part of the program's own time and take 0 here."""
    stall_us: float
    """The part of that in which the host waited for the device and for the transfer."""
    device_start_us: float
    """When the device began to work for it; means nothing where ``device_us`` is 0."""
    device_us: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionSpan:
    """A stretch of the host's step spent in one region; stretches neither nest nor overlap."""

    region: str
    start_us: float
    duration_us: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """One step on two clocks, host and device, as modelled: the recorded step with most events."""

    step: int
    """Counting from 0 after warm-up; 0 if the program marked none, and then it is the whole run."""
    duration_us: float
    regions: tuple[RegionSpan, ...]
    spans: tuple[Span, ...]
    """In the order the host issued them; allocations are left out."""
    spans_left_out: int = 0
    """Events of the step beyond the number that is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What a run computed, so that two runs can be told apart."""

    actions: str
    rewards: str
    episode_rewards: tuple[float, ...] = ()
    is_perturbed: bool = False
    """The recorded run did something else than the clean run: its counts describe another program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Everything known about one run."""

    syncprobe: str
    created: str
    """ISO 8601, UTC."""
    run: Run
    counts: Counts
    per_step: Rates
    regions: Mapping[str, Region] = field(default_factory=dict)
    sites: tuple[Site, ...] = ()
    time: Time = field(default_factory=Time)
    ceiling: tuple[Ceiling, ...] = ()
    findings: tuple[Finding, ...] = ()
    digest: Digest | None = None
    unknown_ops: tuple[str, ...] = ()
    lines: tuple[SourceLine, ...] = ()
    """Hot functions line by line; empty unless asked for."""
    timeline: Timeline | None = None
    """None where no time is modelled."""

    def save(self, path: Path | str) -> None:
        """Write the profile as JSON, whole or not at all."""
        from syncprobe import storage  # a convenience; the model itself knows no files

        storage.save(self, path)

    @property
    def rate_noun(self) -> str:
        """What rates are per: the step, or the run if the program marked none."""
        return "step" if self.run.steps else "run"
