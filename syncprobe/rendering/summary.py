"""What a profile says, before any format says it: the three answers of every first screen.

Is the GPU the problem at all? Which lines cost most? What should be done first?
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.rendering import figures
from syncprobe.rendering.worth import costly_lines, sync_classes, top_finding, worth_of

if TYPE_CHECKING:
    from syncprobe.analysis.model import Finding, Profile, Run
    from syncprobe.rendering.worth import CostlyLine, Worth

MOSTLY: Final = 0.5
HARDLY: Final = 0.2
HOST_REGIONS: Final = 3
HOST_RULES: Final = "SP6"
"""The family of rules about host code, which the device has no part in."""
QUESTIONS: Final = (
    "Is the GPU the problem?",
    "Which lines cost most?",
    "What should I do first?",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstAid:
    """What to do first."""

    headline: str
    advice: str
    next_step: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The first screen, in sentences."""

    title: str
    warnings: tuple[str, ...]
    """Reasons not to take the rest at face value."""
    verdict: str
    reasons: tuple[str, ...]
    ranking: str
    """What the costly lines are ranked by."""
    lines: tuple[CostlyLine, ...]
    first: FirstAid


def summarise(profile: Profile) -> Summary:
    """Answer the three questions for one profile."""
    worth = worth_of(profile)
    return Summary(
        title=title_of(profile.run),
        warnings=warnings_of(profile),
        verdict=_verdict(profile, worth),
        reasons=_reasons(profile, worth),
        ranking="By how often they block."
        if worth is None
        else f"By host time per {profile.rate_noun}, {modelled_label(profile)}.",
        lines=costly_lines(profile),
        first=_first_aid(profile, worth),
    )


def modelled_label(profile: Profile) -> str:
    """How every modelled figure is labelled."""
    return f"modelled ({profile.time.spec or profile.run.gpu})"


def measured_label(profile: Profile) -> str:
    """How every measured figure is labelled: by the processor that did the work."""
    return "measured (CUDA)" if profile.run.device == "cuda" else "measured (CPU)"


def title_of(run: Run) -> str:
    """What was run, on one line."""
    parts = [run.target]
    if run.agent:
        parts.append(run.agent)
    if run.robots is not None:
        parts.append(figures.noun(run.robots, "robot"))
    if run.agent or run.patches:
        parts.append(variant_name(run.patches))
    if run.seed is not None:
        parts.append(f"seed {run.seed}")
    parts.append(figures.noun(run.steps, "step") if run.steps else "no steps marked")
    parts.append(f"device {run.device}" + (f" ({run.gpu})" if run.device == "sim" else ""))
    return ", ".join(parts)


def variant_name(patches: tuple[int, ...]) -> str:
    """What people call a choice of plan steps: the levels of the plan have names."""
    if not patches:
        return "baseline"
    if patches == tuple(range(1, len(patches) + 1)):
        return "optimized" if len(patches) == 5 else f"step{len(patches)}"
    return "steps-" + "-".join(str(step) for step in patches)


def warnings_of(profile: Profile) -> tuple[str, ...]:
    """What has to be known to read the figures, reasons to doubt them first."""
    warnings = []
    if not profile.run.is_complete:
        why = profile.run.interruption or f"exit code {profile.run.exit_code}"
        warnings.append(f"INCOMPLETE: the program did not run to its end ({why}).")
    if profile.digest is not None and profile.digest.is_perturbed:
        warnings.append(
            "PERTURBED: the recorded run did something else than the clean run; "
            "its counts describe another program."
        )
    return (*warnings, *profile.run.notes)


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


def line_sentence(line: CostlyLine) -> str:
    """What a costly line does, by kind; allocations go with nearly everything and say little."""
    telling = {kind: rate for kind, rate in line.rates.items() if kind != EventKind.ALLOCATION}
    shown = (telling or line.rates).items()
    return ", ".join(f"{figures.number(rate)} {kind}" for kind, rate in shown)


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
    if not any(profile.counts.values()):
        return 'No: nothing used the device. Did the program ask for device="cuda"?'
    if worth is None:
        return "Unknown: no time was modelled for this run, so only counts can be shown."
    share = figures.percent(worth.traffic)
    label = f"of the {profile.rate_noun}, {modelled_label(profile)}"
    if worth.traffic >= MOSTLY:
        return f"Yes: syncs, launches and copies are {share} {label}."
    if worth.traffic >= HARDLY:
        return f"In part: syncs, launches and copies are {share} {label}."
    return f"No: syncs, launches and copies are {share} {label}."


def _reasons(profile: Profile, worth: Worth | None) -> tuple[str, ...]:
    sentences = [] if worth is None else [_traffic_sentence(worth), _host_sentence(worth)]
    return (*sentences, time_sentence(profile), counts_sentence(profile))


def _traffic_sentence(worth: Worth) -> str:
    parts = [
        f"syncs {figures.percent(worth.syncs)}",
        f"launches {figures.percent(worth.launches)}",
        f"other copies {figures.percent(worth.copies)}",
    ]
    return f"GPU: {', '.join(parts)}; all for free: {_ceiling(worth.traffic)}."


def _host_sentence(worth: Worth) -> str:
    total = figures.percent(max(1.0 - worth.traffic, 0.0))
    if not worth.host:
        return f"Host: own code {total}, in no region."
    named = list(worth.host.items())[:HOST_REGIONS]
    parts = ", ".join(f"{name} {figures.percent(share)}" for name, share in named)
    top, share = named[0]
    return f"Host: own code {total} ({parts}); {top} for free: {_ceiling(share)}."


def _ceiling(share: float) -> str:
    factor = 1.0 / (1.0 - share) if share < 1.0 else figures.HUGE_SPEEDUP
    return f"at most {figures.speedup(factor)} as fast"


def _first_aid(profile: Profile, worth: Worth | None) -> FirstAid:
    finding = top_finding(profile)
    host, share = next(iter(worth.host.items()), ("", 0.0)) if worth is not None else ("", 0.0)
    is_about_host = finding is not None and finding.rule.startswith(HOST_RULES)
    if worth is not None and worth.traffic < HARDLY and share >= MOSTLY and not is_about_host:
        return FirstAid(
            headline=f"Speed up the host code of region '{host}': {figures.percent(share)} of the "
            f"{profile.rate_noun}, {modelled_label(profile)}.",
            advice="The GPU is not what this program waits for: without a single sync, launch or "
            f"copy it would be {_ceiling(worth.traffic)}. Vectorise or batch what runs there.",
            next_step="Add --lines to 'syncprobe profile' to see that code line by line.",
        )
    if finding is None:
        return FirstAid(
            headline="Nothing: no rule found anything to change.",
            advice="",
            next_step="What the rules look for: syncprobe explain",
        )
    return FirstAid(
        headline=f"{finding.rule} {finding.title}: {figures.place(finding.site)}",
        advice=finding.advice,
        next_step=f"{_finding_cost(profile, finding)}; plan step {finding.plan_step}. "
        f"More: syncprobe explain {finding.rule}",
    )


def _finding_cost(profile: Profile, finding: Finding) -> str:
    rate = f"{figures.number(finding.per_step)} per {profile.rate_noun}"
    if not profile.time.modelled_ms_per_step:
        return rate
    return f"{rate}, {figures.duration(finding.cost_us_modelled)} us {modelled_label(profile)}"
