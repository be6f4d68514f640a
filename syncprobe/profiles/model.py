"""The profile: what a run did, by line, region and step. Everything shown or gated is read from it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final

from syncprobe.events import CallSite, EventKind
from syncprobe.profiles.doubts import doubts_of
from syncprobe.profiles.fingerprints.model import Fingerprints
from syncprobe.profiles.host import HotCall, HotSpot, Outside, OwnTime
from syncprobe.profiles.quantities import Amount, Count, Counts, Factor, PlanStep, Rates, Share

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What was run, and how."""

    target: str
    agent: str | None = None
    pipeline: str | None = None
    robots: Count | None = None
    cores: Count | None = None
    obstacles: Count | None = None
    users: Count | None = None
    stations: Count | None = None
    num_objects: Count | None = None
    resolution: Count | None = None
    grid_step: Count | None = None
    orientation_step: str | None = None
    max_steps: Count | None = None
    episodes: Count | None = None
    phase: str | None = None
    epsilon: Share | None = None
    batch_size: Count | None = None
    preset: str | None = None
    """Sizes of what learns."""
    algo: str | None = None
    env: str | None = None
    envs: Count | None = None
    vec: str | None = None
    """The vector class that was used, and the one that was asked for."""
    sizes: str | None = None
    """Batch and rollout or replay of a workload, for its title."""
    tuning: str | None = None
    """The tuning profile in force, which changes what is learnt; None if there are none."""
    set: str | None = None
    """Settings that were changed one by one, which changes what is learnt, too."""
    seed: int | None = None
    patches: tuple[PlanStep, ...] = ()
    """Steps of the plan that were on."""
    device: str
    gpu: str
    """The device spec that time is modelled for."""
    steps: Count
    """Steps recorded; 0 if the program marked none, and then rates are per run."""
    warmup: Count = 0
    torch: str
    python: str
    command: str
    is_complete: bool = True
    """The program ran to its end."""
    exit_code: int = 0
    """What the program would have exited with."""
    interruption: str | None = None
    """Why it did not run to its end."""
    step_on: str | None = None
    """What was taken for a step: ``mark``, ``optimizer``, ``env``, ``batch`` or ``none``; None if unknown."""
    revision: str | None = None
    """The commit that was run, as `main (1a2b3c4)`; None if the files were run as they are."""
    notes: tuple[str, ...] = ()
    """What has to be known to read the figures, such as what a trace cannot tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """One way a site was reached: the user frames above it, innermost first."""

    stack: tuple[CallSite, ...]
    count: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLine:
    """A line of the user's own project that a library's line was reached by: the innermost such frame."""

    site: CallSite
    count: Count
    per_step: Amount
    host_us_modelled: Amount
    """Per step."""


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
    count: Count
    per_step: Amount
    nbytes: Count
    stall_us_modelled: Amount
    """Per step: time the host waited for the device and the transfer."""
    host_us_modelled: Amount
    """Per step: all modelled host time, launches included."""
    needed_per_step: Amount = 0.0
    """How much of ``per_step`` hands decisions to the environment."""
    sync_class: SyncClass | None = None
    """None for events that do not block."""
    rule: str | None = None
    plan_step: PlanStep | None = None
    """The step of the plan that removes it."""
    source: str = ""
    """The line as it was written when it ran; empty if there was no source to read."""
    callers: tuple[Caller, ...] = ()
    own: tuple[OwnLine, ...] = ()
    """The user's own lines behind a line of a library, dearest first; empty if the line is the user's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """What one region of the step did and cost."""

    counts: Counts
    per_step: Rates
    measured_ms_per_step: Amount | None = None
    modelled_ms_per_step: Amount | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A measured quantity over the steps of a run."""

    median: Amount
    p10: Amount
    p90: Amount


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """What a step took, and what it is modelled to take."""

    measured_ms_per_step: Spread | None = None
    modelled_ms_per_step: Amount | None = None
    device_busy: Share | None = None
    """Modelled share of the step in which the device works."""
    spec: str | None = None
    own: OwnTime | None = None
    """None where no time is modelled."""
    outside: Outside | None = None
    """What is in no step; None if there are no steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """What would be gained if something cost nothing (Amdahl)."""

    what: str
    share: Share
    speedup_if_free: Factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A rule that applies to a line."""

    rule: str
    title: str
    site: CallSite
    region: str
    count: Count
    per_step: Amount
    plan_step: PlanStep
    advice: str
    cost_us_modelled: Amount
    """Per step; what the finding's events are modelled to cost the host."""
    is_allowed: bool = False
    """The source excuses it with an allow comment."""
    source: str | None = None
    """The line as it is written; None if there was no source to read."""
    before: str | None = None
    """Code as it is: the line's own statement, or where that says too little the rule's example."""
    after: str | None = None
    """The same code, written so that there is no finding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """A line of a hot function: what it says, what it took and what it did."""

    site: CallSite
    text: str
    hits_per_step: Amount
    measured_us_per_step: Amount
    """By line_profiler, which slows the program down: good for shares, not for totals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One event on the modelled clocks; times count from the beginning of the step."""

    site: CallSite
    kind: EventKind
    operation: str
    region: str
    is_blocking: bool
    nbytes: Count
    start_us: Amount
    """When the host reached it."""
    host_us: Amount
    """How long it kept the host; conversions are part of the program's own time and take 0 here."""
    stall_us: Amount
    """The part of that in which the host waited for the device and for the transfer."""
    device_start_us: float
    """When the device began to work for it; means nothing where ``device_us`` is 0."""
    device_us: Amount


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionSpan:
    """A stretch of the host's step spent in one region; stretches neither nest nor overlap."""

    region: str
    start_us: Amount
    duration_us: Amount


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """One step on two clocks, host and device, as modelled."""

    step: Count
    """Counting from 0 after warm-up; 0 if the program marked none, and then it is the whole run."""
    duration_us: Amount
    regions: tuple[RegionSpan, ...]
    spans: tuple[Span, ...]
    """In the order the host issued them; allocations are left out."""
    spans_left_out: Count = 0
    """Events of the step beyond the number that is kept; they came after those that are."""
    device_free_us: Amount = 0.0
    """When the device was done with what was issued before the step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What a run computed, so that two runs can be told apart."""

    actions: str
    """SHA-256."""
    rewards: str
    """SHA-256."""
    episode_rewards: tuple[float, ...] = ()
    is_perturbed: bool = False
    """The recorded run did something else than the clean run: its counts describe another program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Everything known about one run."""

    syncprobe: str
    """The version that wrote the profile."""
    created: str
    """ISO 8601, UTC."""
    run: Run
    counts: Counts
    """Events in all."""
    per_step: Rates
    """Per step, or per run if the program marked no steps."""
    regions: Mapping[str, Region] = field(default_factory=dict)
    sites: tuple[Site, ...] = ()
    """Dearest first."""
    time: Time = field(default_factory=Time)
    ceiling: tuple[Ceiling, ...] = ()
    findings: tuple[Finding, ...] = ()
    digest: Digest | None = None
    unknown_ops: tuple[str, ...] = ()
    """Operations that the rules do not know, counted as one launch each."""
    lines: tuple[SourceLine, ...] = ()
    """Hot functions line by line; empty unless asked for."""
    hot_spots: tuple[HotSpot, ...] = ()
    """Functions and lines of the host's own code, dearest first; empty unless a pass was sampled."""
    hot_calls: tuple[HotCall, ...] = ()
    """The same samples as a tree of calls, each followed by what it calls, dearest first."""
    timeline: Timeline | None = None
    """The median step, by how long it is modelled to take; None where no time is modelled."""
    other_timelines: tuple[Timeline, ...] = ()
    """Other steps worth a look: the one with most events, the longest."""
    doubts: tuple[str, ...] = ()
    """Why the figures cannot be relied on, and no limit can be held against them; empty if they can."""
    fingerprints: Fingerprints | None = None
    """What the program computed, step by step; None if nobody looked."""

    def __post_init__(self) -> None:
        # What the run itself gives away is never left out, whoever made the profile.
        doubts = dict.fromkeys((*doubts_of(self.run, self.digest), *self.doubts))
        object.__setattr__(self, "doubts", tuple(doubts))

    def save(self, path: Path | str) -> None:
        """Write the profile as JSON, whole or not at all."""
        from syncprobe.profiles import storage  # a convenience; the model itself knows no files

        storage.save(self, path)

    as_page: ClassVar[Callable[[Profile], str] | None] = None
    """Makes the page that notebooks show; set by what can draw one."""

    def _repr_html_(self) -> str | None:
        """The profile as a page in a notebook's cell; None leaves it to its plain text."""
        return None if Profile.as_page is None else Profile.as_page(self)

    @property
    def rate_noun(self) -> str:
        """What rates are per: the step, or the run if the program marked none."""
        return "step" if self.run.steps else "run"
