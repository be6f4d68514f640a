"""How far the plan has come: profiles of one program with ever more of its steps switched on."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.comparison.side_by_side import SCENARIO
from syncprobe.findings.explanations import PLAN_STEPS
from syncprobe.profiles.titles import variant_name
from syncprobe.rendering.html.charts import Chart, Series
from syncprobe.rendering.labels import measured_label, modelled_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from syncprobe.comparison.levels import PlanReport
    from syncprobe.profiles.model import Profile

RATES: Final = {
    "syncs": "syncs",
    "launches": "launch",
    "conversions": "conversion",
}
BYTES: Final = {"to host": "bytes_to_host", "to device": "bytes_to_device"}


def progression(profiles: Sequence[Profile]) -> tuple[Profile, ...] | None:
    """The profiles from no step to most, if each has the steps of the one before and more."""
    ordered = sorted(profiles, key=lambda profile: len(profile.run.patches))
    if len({(profile.run.target, profile.run.agent) for profile in ordered}) != 1:
        return None
    steps = [set(profile.run.patches) for profile in ordered]
    is_growing = all(fewer < more for fewer, more in itertools.pairwise(steps))
    return tuple(ordered) if is_growing and len(ordered) > 1 else None


def scenario_warning(profiles: Sequence[Profile]) -> str | None:
    """What the runs do not have in common, though they should."""
    differing = [
        f"{name} {' and '.join(str(value) for value in values)}"
        for name in SCENARIO
        if len(values := dict.fromkeys(getattr(profile.run, name) for profile in profiles)) > 1
    ]
    return f"Not the same scenario: {'; '.join(differing)}." if differing else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One level of the plan: a bar in every chart."""

    label: str
    profile: Profile
    measured_ms: float | None


def stages_of(profiles: Sequence[Profile]) -> tuple[Stage, ...]:
    """The levels that saved profiles are."""
    return tuple(
        Stage(
            label=_label(profile.run.patches, PLAN_STEPS),
            profile=profile,
            measured_ms=_median(profile),
        )
        for profile in profiles
    )


def plan_stages(report: PlanReport) -> tuple[Stage, ...]:
    """The levels that were run in turns, with the figures of the headline."""
    names = {step.number: step.name for step in report.steps}
    return tuple(
        Stage(
            label=_label(level.profile.run.patches, names),
            profile=level.profile,
            measured_ms=level.ms_per_step,
        )
        for level in report.levels
    )


def progress_charts(prefix: str, levels: Sequence[Stage]) -> Iterator[Chart]:
    """Events, bytes and time at every level, per step."""
    last = levels[-1].profile
    for title, key in RATES.items():
        values = tuple(level.profile.per_step.get(key, 0.0) for level in levels)
        yield _chart(levels, f"{prefix}-{key}", title, title, {title: values})
    yield _chart(
        levels,
        f"{prefix}-bytes",
        "bytes moved",
        "bytes",
        {
            name: tuple(level.profile.per_step.get(key, 0.0) for level in levels)
            for name, key in BYTES.items()
        },
    )
    modelled = tuple(level.profile.time.modelled_ms_per_step for level in levels)
    if any(modelled):
        label = f"time, {modelled_label(last)}"
        yield _chart(levels, f"{prefix}-modelled", label, "ms", {modelled_label(last): modelled})
    measured = tuple(level.measured_ms for level in levels)
    if any(measured):
        label = f"median time, {measured_label(last)}"
        yield _chart(levels, f"{prefix}-measured", label, "ms", {measured_label(last): measured})


def _label(patches: Sequence[int], names: Mapping[int, str]) -> str:
    """What a level adds to the one before: the number and the name of its last step."""
    if not patches:
        return variant_name(())
    return f"+ {patches[-1]} {names.get(patches[-1], '')}".rstrip()


def _median(profile: Profile) -> float | None:
    spread = profile.time.measured_ms_per_step
    return None if spread is None else spread.median


def _chart(
    levels: Sequence[Stage],
    identity: str,
    title: str,
    unit: str,
    values: dict[str, tuple[float | None, ...]],
) -> Chart:
    colours = ("after", "before")
    return Chart(
        id=identity,
        title=f"{title[0].upper()}{title[1:]} per {levels[-1].profile.rate_noun}",
        unit=unit,
        labels=tuple(level.label for level in levels),
        series=tuple(
            Series(name=name, values=figures, colour=colour)
            for (name, figures), colour in zip(values.items(), colours, strict=False)
        ),
        is_stacked=True,
        label_title="plan, step by step",
    )
