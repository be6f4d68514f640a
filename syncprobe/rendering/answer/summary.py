"""What a profile says, before any format says it: the three answers of every first screen.

Is the GPU the problem at all? Which lines cost most? What should be done first?
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.events import DEFAULT_REGION, EventKind
from syncprobe.profiles.host import BUSY_SHARE
from syncprobe.profiles.titles import title_of
from syncprobe.rendering import figures
from syncprobe.rendering.answer.todo import to_dos
from syncprobe.rendering.answer.worth import HARDLY, MOSTLY, sync_classes, worth_of
from syncprobe.rendering.labels import measured_label, modelled_label
from syncprobe.rendering.lines.costly import costly_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from syncprobe.profiles.model import Profile
    from syncprobe.rendering import SourceText
    from syncprobe.rendering.answer.todo import ToDo
    from syncprobe.rendering.answer.worth import Worth
    from syncprobe.rendering.lines.costly import CostlyLine

FAR_APART: Final = 2.0
"""By this factor the bounds of own code may differ before nobody can say what it is worth."""
HOST_REGIONS: Final = 3
LONG_SETUP: Final = 10.0
"""Set-up that takes as long as so many steps is worth a word."""
QUESTIONS: Final = (
    "Is the GPU the problem?",
    "Which lines cost most?",
    "What should I do first?",
)
NOTHING_TO_DO: Final = "Nothing: no rule found anything to change."
NOTHING_SEEN: Final = "Nobody can say: no event was recorded."


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The first screen, in sentences."""

    title: str
    warnings: tuple[str, ...]
    """What has to be known to read the rest, doubts first."""
    doubts: tuple[str, ...]
    """Those of the warnings that are reasons not to take the rest at face value."""
    verdict: str
    is_about_device: bool
    """The device is the problem, at least in part."""
    reasons: tuple[str, ...]
    ranking: str
    """What the costly lines are ranked by."""
    lines: tuple[CostlyLine, ...]
    to_dos: tuple[ToDo, ...]
    """What is worth most first; empty if there is nothing to do."""

    @property
    def nothing(self) -> str:
        """What to say where there is nothing to do."""
        return NOTHING_TO_DO if self.lines else NOTHING_SEEN


def summarise(profile: Profile, source: SourceText | None = None) -> Summary:
    """Answer the three questions for one profile."""
    worth = worth_of(profile)
    return Summary(
        title=title_of(profile.run),
        warnings=warnings_of(profile),
        doubts=profile.doubts,
        verdict=_verdict(profile, worth),
        is_about_device=worth is None or worth.traffic >= HARDLY,
        reasons=tuple(_reasons(profile, worth)),
        ranking="By how often they block."
        if worth is None
        else f"By host time per {profile.rate_noun}, {modelled_label(profile)}.",
        lines=costly_lines(profile),
        to_dos=to_dos(profile, worth, source),
    )


def warnings_of(profile: Profile) -> tuple[str, ...]:
    """What has to be known to read the figures, reasons to doubt them first."""
    return (*profile.doubts, *profile.run.notes)


def counts_sentence(profile: Profile) -> str:
    """What happens per step, in one line."""
    rates = profile.per_step
    syncs = figures.noun(rates.get("syncs", 0.0), "sync")
    classes = ", ".join(
        f"{figures.number(rate)} {name}" for name, rate in sync_classes(profile).items() if rate
    )
    parts = (
        f"{syncs} ({classes})" if classes else syncs,
        figures.noun(rates.get("launch", 0.0), "launch"),
        f"{figures.nbytes(rates.get('bytes_to_host', 0.0))} to host",
        f"{figures.nbytes(rates.get('bytes_to_device', 0.0))} to device",
    )
    return f"Per {profile.rate_noun}: {', '.join(parts)}."


def time_sentence(profile: Profile) -> str:
    """How long a step takes, measured and modelled, each labelled as what it is."""
    time, parts = profile.time, []
    if time.measured_ms_per_step is not None:
        median = figures.duration(time.measured_ms_per_step.median)
        parts.append(f"{median} ms {measured_label(profile)}")
    if time.modelled_ms_per_step is not None:
        parts.append(f"{figures.duration(time.modelled_ms_per_step)} ms {modelled_label(profile)}")
    if time.device_busy is not None:
        parts.append(f"device busy {figures.percent(time.device_busy)}")
    facts = ", ".join(parts) or "neither measured nor modelled in this profile"
    return f"Time per {profile.rate_noun}: {facts}."


def _verdict(profile: Profile, worth: Worth | None) -> str:
    why_not = _why_nothing_is_known(profile)
    if why_not:
        return f"Cannot tell: {why_not}"
    if worth is None:
        return "Unknown: no time was modelled for this run, so only counts can be shown."
    label = f"of the {profile.rate_noun}, {modelled_label(profile)}"
    if _is_undecided(profile, worth):
        least, most = figures.percent(worth.least), figures.percent(worth.most)
        return (
            f"Cannot tell: syncs, launches and copies are between {least} and {most} {label}"
            f"{_why_undecided(profile)}."
        )
    share = figures.percent(worth.traffic)
    return (
        f"{_answer(worth.traffic)}: syncs, launches and copies are {share} {label}; "
        f"without them it would be {_ceiling(worth.traffic)}."
    )


def _why_nothing_is_known(profile: Profile) -> str:
    """Empty if something happened on the device, in steps if there are any."""
    run = profile.run
    if _is_any(profile, profile.counts):
        if run.steps and not _is_any(profile, profile.per_step):
            return "no step used the device. If later ones do, record those: --warmup, --steps."
        return ""
    if run.warmup and not run.steps:
        return "the warm-up was longer than the run, so nothing was recorded."
    if not (run.is_complete or run.steps):
        return "the program ended before it used the device."
    return 'nothing used the device. Did the program ask for device="cuda"?'


def _is_any(profile: Profile, amounts: Mapping[str, float]) -> bool:
    """Events of some kind; conversions happen on the host, and are all that a CPU run has."""
    is_there = profile.run.device != "cpu"
    return any(
        amount for kind, amount in amounts.items() if kind != EventKind.CONVERSION or not is_there
    )


def _answer(traffic: float) -> str:
    if traffic >= MOSTLY:
        return "Yes"
    return "In part" if traffic >= HARDLY else "No"


def _is_undecided(profile: Profile, worth: Worth) -> bool:
    """The bounds of own code are far apart, and the answer depends on it."""
    own = profile.time.own
    if own is None or own.high_ms <= FAR_APART * own.low_ms:
        return False
    return _answer(worth.least) != _answer(worth.most)


def _why_undecided(profile: Profile) -> str:
    """Why the bounds are far apart, and what to do about it, where that is known."""
    own = profile.time.own
    assert own is not None, "its bounds are far apart"
    if own.waited_share > BUSY_SHARE:
        return "; the machine is busy: record again when it is quiet"
    if own.source == "calibrated":
        return (
            "; let it run for longer, or mark steps: own code of so short a run is not known well"
        )
    return ""


def _reasons(profile: Profile, worth: Worth | None) -> Iterator[str]:
    if profile.time.outside is not None:
        yield from _setup_sentence(profile)
    yield time_sentence(profile)
    yield counts_sentence(profile)
    if worth is not None:
        yield _traffic_sentence(profile, worth)
        yield _own_sentence(worth)


def _setup_sentence(profile: Profile) -> Iterator[str]:
    """What is in no step, where it is long enough to be noticed."""
    outside, step_ms = profile.time.outside, profile.time.modelled_ms_per_step or 0.0
    if outside is None:
        return
    whole_ms = outside.before_ms + outside.between_ms + outside.after_ms
    if whole_ms > LONG_SETUP * step_ms:
        yield (
            f"In no step, and not counted: {figures.duration(whole_ms)} ms {measured_label(profile)} "
            "of set-up before, between and after the steps."
        )


def _traffic_sentence(profile: Profile, worth: Worth) -> str:
    parts = (
        f"syncs {figures.percent(worth.syncs)}",
        f"launches {figures.percent(worth.launches)}",
        f"other copies {figures.percent(worth.copies)}",
    )
    return f"Of the {profile.rate_noun}: {', '.join(parts)}."


def _own_sentence(worth: Worth) -> str:
    named = list(worth.host.items())[:HOST_REGIONS]
    text = f"Own code {figures.percent(max(1.0 - worth.traffic, 0.0))}"
    if not named:
        return f"{text}."
    has_names = {name for name, _ in named} != {DEFAULT_REGION}
    if has_names:
        text += f": {', '.join(f'{name} {figures.percent(share)}' for name, share in named)}"
    largest, share = named[0]
    if share < HARDLY:
        return f"{text}."
    if not has_names:
        largest = "it"
    elif largest == DEFAULT_REGION:
        largest = "what is in no region"
    return f"{text}. Without {largest}: {_ceiling(share)}."


def _ceiling(share: float) -> str:
    factor = 1.0 / (1.0 - share) if share < 1.0 else figures.HUGE_SPEEDUP
    ratio = figures.faster(factor)
    # What has no finite limit is not "at most" anything.
    is_limit = ratio != "no faster" and factor < figures.HUGE_SPEEDUP
    return f"at most {ratio}" if is_limit else ratio
