"""The panel that holds several profiles side by side: what changed, and whether they do the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from syncprobe.comparison import side_by_side
from syncprobe.comparison.ratio import Speedup
from syncprobe.comparison.settling import settled
from syncprobe.profiles.titles import title_of, variant_name
from syncprobe.rendering import figures
from syncprobe.rendering.answer.summary import summarise, warnings_of
from syncprobe.rendering.html.evidence import exhibits
from syncprobe.rendering.html.progress import (
    plan_stages,
    progress_charts,
    progression,
    scenario_warning,
    stages_of,
)
from syncprobe.rendering.html.regions import paired_region_charts
from syncprobe.rendering.html.tiles import comparison_tiles
from syncprobe.rendering.tables import NOTHING, Column, Section
from syncprobe.rendering.variants import comparison as words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.comparison.levels import PlanReport
    from syncprobe.comparison.side_by_side import Comparison
    from syncprobe.equivalence.verdict import Verdict
    from syncprobe.profiles.model import Profile
    from syncprobe.rendering.html.charts import Chart
    from syncprobe.rendering.html.evidence import Exhibit
    from syncprobe.rendering.html.progress import Stage
    from syncprobe.rendering.html.tiles import Tile


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Several profiles together."""

    id: str
    name: str
    title: str
    tables: tuple[Section, ...]
    answer: str = "unknown"
    """To whether they do the same: ``same``, ``different`` or ``unknown``."""
    warnings: tuple[str, ...] = ()
    headlines: tuple[str, ...] = ()
    tiles: tuple[Tile, ...] = ()
    progress: tuple[Chart, ...] = ()
    """How the figures fell from step to step of the plan."""
    charts: tuple[Chart, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()


def comparison_overview(comparison: Comparison, levels: Sequence[Stage] = ()) -> Overview:
    """Two variants side by side, and the levels between them."""
    before, after = comparison.before, comparison.after
    return Overview(
        id="overview",
        name="Comparison",
        title=words.title(comparison),
        answer=_answer(comparison.verdict),
        warnings=tuple(_warnings(before, after)),
        headlines=tuple(words.headlines(comparison)),
        tiles=tuple(comparison_tiles(comparison)),
        progress=tuple(progress_charts("progress", levels)) if len(levels) > 2 else (),
        charts=tuple(paired_region_charts("overview", before, after)),
        exhibits=exhibits("overview", comparison),
        tables=tuple(words.sections(comparison)),
    )


def overview_of(profiles: Sequence[Profile]) -> Overview | None:
    """What several profiles say together; None for one."""
    if len(profiles) < 2:
        return None
    levels = progression(profiles)
    if levels is not None:
        levels = settled(levels)
        return _compared(levels[0], levels[-1], stages_of(levels))
    if len(profiles) == 2 and _kinship(profiles[0]) == _kinship(profiles[1]):
        return _compared(profiles[0], profiles[1], ())
    return Overview(
        id="overview",
        name="Overview",
        title=figures.noun(len(profiles), "profile"),
        tables=(_all_profiles(profiles),),
    )


def plan_overview(report: PlanReport) -> Overview:
    """From the first level to the last, measured in turns."""
    first, last = report.levels[0], report.levels[-1]
    speedup = Speedup(before_ms=first.ms_per_step, after_ms=last.ms_per_step, ratio=last.speedup)
    return _compared(first.profile, last.profile, plan_stages(report), speedup)


def panel_names(profiles: Sequence[Profile]) -> tuple[str, ...]:
    """Short names that tell the profiles apart."""
    is_one_program = len({_kinship(profile) for profile in profiles}) == 1
    names = [
        variant_name(profile.run.patches) if is_one_program else _name(profile)
        for profile in profiles
    ]
    return tuple(
        name if names.count(name) == 1 else f"{place}. {name}"
        for place, name in enumerate(names, start=1)
    )


def _compared(
    before: Profile, after: Profile, levels: Sequence[Stage], speedup: Speedup | None = None
) -> Overview:
    verdict = side_by_side.verdict_from_digests(before, after)
    comparison = side_by_side.compare(before, after, speedup=speedup, verdict=verdict)
    return comparison_overview(comparison, levels)


def _warnings(before: Profile, after: Profile) -> Iterator[str]:
    """Reasons to doubt the comparison; those of a profile name it."""
    warning = scenario_warning((before, after))
    if warning is not None:
        yield warning
    for name, profile in zip(panel_names((before, after)), (before, after), strict=True):
        yield from (f"{name}: {text}" for text in warnings_of(profile))


def _answer(verdict: Verdict | None) -> str:
    if verdict is None or verdict.is_equivalent is None:
        return "unknown"
    return "same" if verdict.is_equivalent else "different"


def _kinship(profile: Profile) -> tuple[str, str | None]:
    return profile.run.target, profile.run.agent


def _name(profile: Profile) -> str:
    run = profile.run
    named = [run.target, run.agent or "", variant_name(run.patches) if run.agent else ""]
    return figures.shortened_left(" ".join(filter(None, named)), 40)


def _all_profiles(profiles: Sequence[Profile]) -> Section:
    columns = (
        Column(title="profile", is_name=True),
        Column(title="is the GPU the problem?", is_name=True),
        Column(title="syncs"),
        Column(title="launches"),
        Column(title="modelled, ms"),
        Column(title="measured, ms"),
    )
    rows = tuple(
        (
            title_of(profile.run),
            summarise(profile).verdict,
            figures.number(profile.per_step.get("syncs", 0.0)),
            figures.number(profile.per_step.get("launch", 0.0)),
            *_times(profile),
        )
        for profile in profiles
    )
    return Section(title="Profiles, per step or run", columns=columns, rows=rows)


def _times(profile: Profile) -> tuple[str, str]:
    modelled, measured = profile.time.modelled_ms_per_step, profile.time.measured_ms_per_step
    return (
        NOTHING
        if modelled is None
        else f"{figures.duration(modelled)} ({profile.time.spec or profile.run.gpu})",
        NOTHING if measured is None else figures.duration(measured.median),
    )
