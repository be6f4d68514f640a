"""Puts the page together: text first, then data, then the scripts that draw it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from syncprobe._version import __version__
from syncprobe.errors import SyncprobeError
from syncprobe.rendering.html.embedding import embedded, neutral, script_hash
from syncprobe.rendering.html.overview import (
    comparison_overview,
    overview_of,
    panel_names,
    plan_overview,
)
from syncprobe.rendering.html.profile_panel import profile_panel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment

    from syncprobe.comparison.levels import PlanReport
    from syncprobe.comparison.side_by_side import Comparison
    from syncprobe.profiles.model import Profile
    from syncprobe.rendering import Page, SourceText
    from syncprobe.rendering.html.overview import Overview
    from syncprobe.rendering.html.profile_panel import ProfilePanel

SCRIPTS: Final = (
    "dom",
    "decode",
    "tabs",
    "sites",
    "findings",
    "charts",
    "lanes",
    "timeline",
    "start",
)
"""In the order they need each other."""


class MissingTemplatesError(SyncprobeError):
    """The library that fills in templates is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "HTML pages need jinja2, which is not installed. Add it with: pip install 'syncprobe[report]'"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """All that one page shows."""

    title: str
    overview: Overview | None
    profiles: tuple[ProfilePanel, ...]

    @property
    def charts(self) -> dict[str, Any]:
        """Every chart by its id, for the browser."""
        drawn = [chart for panel in self.profiles for chart in panel.charts]
        if self.overview is not None:
            drawn += [*self.overview.progress, *self.overview.charts]
            drawn += [chart for exhibit in self.overview.exhibits for chart in exhibit.charts]
        return {chart.id: chart.data for chart in drawn}


def render(profiles: Sequence[Profile], page: Page) -> str:
    """The profiles on one page: each in a panel of its own, and side by side where that makes sense."""
    return _filled(overview_of(profiles), profiles, page.source)


def render_comparison(comparison: Comparison, page: Page | None = None) -> str:
    """Two variants on one page: side by side with the evidence, then each on its own."""
    overview = comparison_overview(comparison)
    source = None if page is None else page.source
    return _filled(overview, (comparison.before, comparison.after), source)


def render_plan(report: PlanReport, page: Page | None = None) -> str:
    """The levels of the plan on one page: the first and the last side by side, then each on its own."""
    source = None if page is None else page.source
    return _filled(plan_overview(report), [each.profile for each in report.levels], source)


def check_templates() -> None:
    """Refuse a page that could not be made, before the work that it is to show."""
    _environment()


def _filled(
    overview: Overview | None, profiles: Sequence[Profile], source: SourceText | None
) -> str:
    environment = _environment()
    names = panel_names(profiles)
    shown = tuple(
        profile_panel(f"p{place}", name, profile, source)
        for place, (name, profile) in enumerate(zip(names, profiles, strict=True))
    )
    title = shown[0].summary.title if overview is None else overview.title
    document = Document(title=title, overview=overview, profiles=shown)
    theme, library, program = (
        _asset("scripts/theme.js"),
        _asset("vendor/chart.umd.min.js"),
        _program(),
    )
    return environment.get_template("page.html.j2").render(
        document=document,
        version=__version__,
        policy=_policy((theme, library, program)),
        style=_asset("style.css"),
        theme=theme,
        library=library,
        program=program,
    )


def _policy(scripts: Sequence[str]) -> str:
    """Nothing is fetched, and of all scripts in the page only ours run."""
    hashes = " ".join(script_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@functools.cache
def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


@functools.cache
def _program() -> str:
    """Our scripts as one, with a scope of its own."""
    parts = "\n".join(_asset(f"scripts/{name}.js") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();\n'


@functools.cache
def _environment() -> Environment:
    try:
        import jinja2
    except ImportError:
        raise MissingTemplatesError from None
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _asset(f"templates/{name}")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_made_visible,
    )
    environment.filters["embedded"] = embedded
    return environment


def _made_visible(value: object) -> object:
    """What is not markup already shows its control characters instead of acting on them."""
    return neutral(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
