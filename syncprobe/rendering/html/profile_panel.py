"""The panel of one profile: the first screen, then the evidence, in the order people ask for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from syncprobe.rendering import details, figures
from syncprobe.rendering.answer.summary import summarise
from syncprobe.rendering.html.calls import call_tree
from syncprobe.rendering.html.environment import facts
from syncprobe.rendering.html.findings import rule_cards
from syncprobe.rendering.html.panel_data import PanelData
from syncprobe.rendering.html.regions import region_charts
from syncprobe.rendering.html.tiles import profile_tiles, shares
from syncprobe.rendering.html.timeline import timeline_text
from syncprobe.rendering.labels import modelled_label
from syncprobe.rendering.lines.rows import beneath_sentence, line_sentence
from syncprobe.rendering.tables import Column, Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.profiles.model import Profile
    from syncprobe.rendering import SourceText
    from syncprobe.rendering.answer.summary import Summary
    from syncprobe.rendering.html.calls import Call
    from syncprobe.rendering.html.charts import Chart
    from syncprobe.rendering.html.findings import RuleCard
    from syncprobe.rendering.html.tiles import Share, Tile
    from syncprobe.rendering.html.timeline import TimelineText
    from syncprobe.rendering.lines.costly import CostlyLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A costly line as shown."""

    place: str
    cost_us: str
    share: str
    what: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfilePanel:
    """One profile."""

    id: str
    name: str
    summary: Summary
    answer: str
    """To whether the GPU is the problem, in a word or two."""
    explanation: str
    rate_noun: str
    modelled: str
    """How modelled figures are labelled."""
    tiles: tuple[Tile, ...]
    shares: tuple[Share, ...]
    lines: tuple[Line, ...]
    charts: tuple[Chart, ...]
    timeline: TimelineText | None
    cards: tuple[RuleCard, ...]
    hot_spots: tuple[Section, ...]
    """The host's own code, where a pass was sampled."""
    calls: tuple[Call, ...]
    """The same as a tree."""
    tables: tuple[Section, ...]
    facts: tuple[tuple[str, str], ...]
    has_source: bool
    data: dict[str, Any]
    """For the browser."""


def profile_panel(
    identity: str, name: str, profile: Profile, source: SourceText | None
) -> ProfilePanel:
    """Everything about one profile."""
    summary, cards = summarise(profile, source), rule_cards(profile, source)
    answer, _, explanation = summary.verdict.partition(": ")
    data = PanelData(profile, source).collect(cards)
    return ProfilePanel(
        id=identity,
        name=name,
        summary=summary,
        answer=answer,
        explanation=explanation[:1].upper() + explanation[1:],
        rate_noun=profile.rate_noun,
        modelled=modelled_label(profile),
        tiles=tuple(profile_tiles(profile)),
        shares=shares(profile),
        lines=tuple(_line(line, source) for line in summary.lines),
        charts=tuple(region_charts(identity, profile)),
        timeline=timeline_text(profile),
        cards=cards,
        hot_spots=tuple(details.hot_spots(profile)),
        calls=call_tree(profile),
        tables=(*_listings(profile), *_ceilings(profile)),
        facts=facts(profile),
        has_source=any(text for _, _, text in data["places"]),
        data=data,
    )


def _line(line: CostlyLine, source: SourceText | None) -> Line:
    return Line(
        place=figures.place(line.site),
        cost_us=figures.duration(line.cost_us),
        share="" if line.share is None else figures.percent(line.share),
        what="; ".join(filter(None, (line_sentence(line), beneath_sentence(line)))),
        source="" if source is None else source(line.site),
    )


def _listings(profile: Profile) -> Iterator[Section]:
    return (section for section in details.sections(profile) if section.is_listing)


def _ceilings(profile: Profile) -> Iterator[Section]:
    if not profile.ceiling:
        return
    yield Section(
        title=f"Ceilings, {modelled_label(profile)}: how fast it could be if a thing cost nothing",
        columns=(
            Column(title="what", is_name=True),
            Column(title="share"),
            Column(title="at most"),
        ),
        rows=tuple(
            (entry.what, figures.percent(entry.share), figures.speedup(entry.speedup_if_free))
            for entry in profile.ceiling
        ),
    )
