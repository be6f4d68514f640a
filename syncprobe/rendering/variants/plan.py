"""The plan and its levels, as tables."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, Final

from syncprobe._version import __version__
from syncprobe.profiles.titles import title_of
from syncprobe.registry import Registry
from syncprobe.rendering import Page, figures, markdown
from syncprobe.rendering.labels import measured_label, modelled_label
from syncprobe.rendering.tables import NOTHING, Column, Section
from syncprobe.rendering.variants.ratios import ENOUGH_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from syncprobe.comparison.levels import Level, PlanReport

SCHEMA: Final = "syncprobe.plan/1"
RATES: Final = {"syncs": "syncs", "launch": "launches", "conversion": "conversions"}


def render_console(report: PlanReport, page: Page | None = None) -> str:
    """For a terminal."""
    from syncprobe.rendering import console  # rich takes time to load

    return console.render_sections(_title(report), (), sections(report), page or Page())


def render_markdown(report: PlanReport, _page: Page | None = None) -> str:
    """For a pull request."""
    return markdown.render_sections(_title(report), (), sections(report))


def render_json(report: PlanReport, _page: Page | None = None) -> str:
    """All there is, for machines."""
    return json.dumps(to_json(report), indent=1) + "\n"


PLAN_FORMATS: Registry[Callable[..., str]] = Registry("plan format")
PLAN_FORMATS.add("console", render_console)
PLAN_FORMATS.add("md", render_markdown)
PLAN_FORMATS.add("json", render_json)


def sections(report: PlanReport) -> Iterator[Section]:
    """Each step in words, then what every level does and takes."""
    for step in report.steps:
        yield Section(
            title=f"Step {step.number}, {step.name}: {step.title}",
            notes=(f"Replaces {step.replaces}.", f"Removes {step.removes}."),
        )
    if report.levels:
        yield _levels(report)


def to_json(report: PlanReport) -> dict[str, Any]:
    """The report as plain data."""
    return {
        "schema": SCHEMA,
        "syncprobe": __version__,
        "steps": [dataclasses.asdict(step) for step in report.steps],
        "levels": [
            {
                "name": level.name,
                "patches": list(level.profile.run.patches),
                "agent": level.profile.run.agent,
                "per_step": dict(level.profile.per_step),
                "modelled_ms_per_step": level.profile.time.modelled_ms_per_step,
                "spec": level.profile.time.spec,
                "measured_ms_per_step": level.ms_per_step,
                "speedup": dataclasses.asdict(level.speedup),
            }
            for level in report.levels
        ],
    }


def _title(report: PlanReport) -> str:
    if not report.levels:
        return "the five-step plan"
    run = report.levels[0].profile.run
    agent = f"{run.agent}, " if run.agent else ""
    subject = title_of(dataclasses.replace(run, agent=None), names_variant=False)
    return f"the five-step plan: {agent}{subject}"


def _levels(report: PlanReport) -> Section:
    last = report.levels[-1].profile
    return Section(
        title=f"What each level does per {last.rate_noun}, times in ms; each has all steps up to its own",
        columns=(
            Column(title="level", is_name=True),
            *(
                Column(title=title, is_optional=name == "conversion")
                for name, title in RATES.items()
            ),
            Column(title=modelled_label(last)),
            Column(title=measured_label(last)),
            Column(title="faster"),
            Column(title="95% interval"),
        ),
        rows=tuple(_row(level) for level in report.levels),
        notes=(
            "Measured in turns, medians of the passes; ratios are against the baseline of the same rounds.",
        ),
    )


def _row(level: Level) -> tuple[str, ...]:
    profile, ratio = level.profile, level.speedup
    modelled = profile.time.modelled_ms_per_step
    return (
        level.name,
        *(figures.number(profile.per_step.get(name, 0.0)) for name in RATES),
        NOTHING if modelled is None else figures.duration(modelled),
        figures.duration(level.ms_per_step),
        figures.speedup(ratio.median),
        f"{figures.speedup(ratio.low)} to {figures.speedup(ratio.high)}"
        if ratio.rounds >= ENOUGH_ROUNDS
        else NOTHING,
    )
