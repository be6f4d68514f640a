"""The evidence below the first screen, as titled tables that any format can lay out."""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.rendering import figures
from syncprobe.rendering.answer.worth import own_us
from syncprobe.rendering.labels import has_plan, measured_label, modelled_label
from syncprobe.rendering.lines.costly import costly_lines
from syncprobe.rendering.lines.rows import INSIDE, line_sentence
from syncprobe.rendering.listings import listings
from syncprobe.rendering.tables import LINE, NOTHING, Column, Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.profiles.host import OwnTime
    from syncprobe.profiles.model import Finding, Profile, Site
    from syncprobe.rendering.lines.costly import CostlyLine

SPOTS_NOTE: Final = "By samples of a pass of its own (pyinstrument), operators left out: good for shares, not for totals."


def sections(profile: Profile) -> Iterator[Section]:
    """Everything worth showing, in the order people look for it."""
    has_model = profile.time.modelled_ms_per_step is not None
    return (section if has_model else _without_model(section) for section in _sections(profile))


def _without_model(section: Section) -> Section:
    kept = [place for place, column in enumerate(section.columns) if not column.is_modelled]
    return replace(
        section,
        columns=tuple(section.columns[place] for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in section.rows),
    )


def _sections(profile: Profile) -> Iterator[Section]:
    yield _events(profile)
    if profile.regions:
        yield _regions(profile)
    yield from hot_spots(profile)
    if profile.findings:
        yield _findings(profile)
    if any(site.own for site in profile.sites):
        yield _own_lines(profile)
    if profile.sites:
        yield _sites(profile)
    yield from listings(profile)
    if profile.ceiling:
        yield _ceilings(profile)
    yield _facts(profile)


def _events(profile: Profile) -> Section:
    return Section(
        title="Events",
        columns=(
            Column(title="kind", is_name=True),
            Column(title=f"per {profile.rate_noun}"),
            Column(title="in all"),
        ),
        rows=(
            ("syncs (all that block)", _rate(profile, "syncs"), ""),
            *(
                (str(kind), _rate(profile, kind), figures.number(profile.counts.get(kind, 0)))
                for kind in EventKind
            ),
        ),
        notes=_unknown(profile),
    )


def _regions(profile: Profile) -> Section:
    rows = tuple(
        (
            name,
            _duration(region.measured_ms_per_step),
            _duration(region.modelled_ms_per_step),
            figures.number(region.per_step.get("syncs", 0.0)),
            figures.number(region.per_step.get(EventKind.LAUNCH, 0.0)),
            figures.nbytes(region.per_step.get("bytes_to_host", 0.0)),
            figures.nbytes(region.per_step.get("bytes_to_device", 0.0)),
        )
        for name, region in profile.regions.items()
    )
    columns = (
        Column(title="region", is_name=True, minimum=12),
        Column(title=measured_label(profile)),
        Column(title=modelled_label(profile), is_modelled=True),
        Column(title="syncs"),
        Column(title="launches"),
        Column(title="to host"),
        Column(title="to device"),
    )
    return Section(
        title=f"Regions, per {profile.rate_noun}, times in ms", columns=columns, rows=rows
    )


def hot_spots(profile: Profile) -> Iterator[Section]:
    """Functions and lines of the host's own code, where it is known what they take."""
    if not profile.hot_spots:
        return
    whole_us = own_us(profile)
    yield Section(
        title=f"Host hot spots, by own time, per {profile.rate_noun}{_costs(profile)}",
        columns=(
            Column(title="us", is_modelled=True),
            Column(title="share"),
            LINE,
            Column(title="function", is_name=True, is_code=True, minimum=12),
            Column(title="", is_name=True),
        ),
        rows=tuple(
            (
                figures.duration(spot.share * whole_us),
                figures.percent(spot.share),
                figures.place(spot.site),
                spot.site.function,
                "all of it" if spot.is_function else "this line",
            )
            for spot in profile.hot_spots
        ),
        notes=(SPOTS_NOTE,),
    )


def _findings(profile: Profile) -> Section:
    dearest_first = sorted(
        profile.findings, key=lambda finding: (finding.is_allowed, -finding.cost_us_modelled)
    )
    advice = dict.fromkeys((finding.rule, finding.advice) for finding in dearest_first)
    return Section(
        title=f"Findings, per {profile.rate_noun}{_costs(profile)}",
        columns=(
            Column(title="rule", is_name=True, minimum=5),
            LINE,
            Column(title="what", is_name=True, minimum=20),
            Column(title="count"),
            Column(title="us", is_modelled=True),
            *((Column(title="plan step"),) if has_plan(profile.run) else ()),
        ),
        rows=tuple(
            (*_finding_row(finding), str(finding.plan_step))
            if has_plan(profile.run)
            else _finding_row(finding)
            for finding in dearest_first
        ),
        notes=tuple(f"{rule}: {text}" for rule, text in sorted(advice, key=itemgetter(0))),
    )


def _costs(profile: Profile) -> str:
    """What the title of a table with costs adds."""
    return "" if profile.time.modelled_ms_per_step is None else f", us {modelled_label(profile)}"


def _finding_row(finding: Finding) -> tuple[str, ...]:
    return (
        finding.rule,
        figures.place(finding.site),
        f"{finding.title} (allowed)" if finding.is_allowed else finding.title,
        figures.number(finding.per_step),
        figures.duration(finding.cost_us_modelled),
    )


def _own_lines(profile: Profile) -> Section:
    """The user's own lines, each with the lines of libraries that it reached beneath it."""
    lines = costly_lines(profile, limit=len(profile.sites))
    return Section(
        title=f"Your own lines, with what they reach in libraries, per {profile.rate_noun}{_costs(profile)}",
        columns=(
            LINE,
            Column(title="what", is_name=True, minimum=20),
            Column(title="us", is_modelled=True),
        ),
        rows=tuple(row for line in lines if line.beneath for row in _own_rows(line)),
    )


def _own_rows(line: CostlyLine) -> Iterator[tuple[str, ...]]:
    yield figures.place(line.site), line_sentence(line), figures.duration(line.cost_us)
    for inner in line.beneath:
        place = f"{INSIDE}{figures.place(inner.site)}"
        yield place, line_sentence(inner), figures.duration(inner.cost_us)


def _sites(profile: Profile) -> Section:
    return Section(
        title=f"Sites, per {profile.rate_noun}{_costs(profile)}",
        columns=(
            LINE,
            Column(title="kind", is_name=True),
            Column(title="operation", is_name=True, is_code=True, minimum=14),
            Column(title="region", is_name=True, minimum=6, is_optional=True),
            Column(title="count"),
            Column(title="us", is_modelled=True),
            Column(title="class", is_name=True, is_optional=True),
            Column(title="rule", is_name=True, minimum=5, is_optional=True),
            Column(title="function", is_name=True, is_code=True, minimum=12, is_optional=True),
            Column(title="called", is_name=True, is_code=True, minimum=12, is_optional=True),
        ),
        rows=tuple(_site_row(site) for site in profile.sites),
    )


def _site_row(site: Site) -> tuple[str, ...]:
    return (
        figures.place(site.site),
        str(site.kind),
        site.operation,
        site.region,
        figures.number(site.per_step),
        figures.duration(site.host_us_modelled),
        str(site.sync_class or NOTHING),
        site.rule or NOTHING,
        site.site.function,
        site.entry or NOTHING,
    )


def _ceilings(profile: Profile) -> Section:
    return Section(
        title=f"Ceilings, {modelled_label(profile)}: how fast it could be if a thing cost nothing",
        columns=(
            Column(title="what", is_name=True, is_path=True, minimum=24),
            Column(title="share"),
            Column(title="at most"),
        ),
        rows=tuple(
            (entry.what, figures.percent(entry.share), figures.speedup(entry.speedup_if_free))
            for entry in profile.ceiling
        ),
    )


def _facts(profile: Profile) -> Section:
    run, notes = profile.run, []
    if run.command:
        notes.append(f"Command: {run.command}")
    facts = [f"syncprobe {profile.syncprobe}", f"torch {run.torch}", f"Python {run.python}"]
    facts += [f"{run.cores} cores"] if run.cores is not None else []
    facts += [f"{run.obstacles} obstacles"] if run.obstacles is not None else []
    facts += [f"{run.warmup} warm-up steps"] if run.warmup else []
    notes.append(f"Made {profile.created} by {', '.join(facts)}.")
    spread = profile.time.measured_ms_per_step
    if spread is not None:
        notes.append(
            f"A {profile.rate_noun} took {figures.duration(spread.p10)} to "
            f"{figures.duration(spread.p90)} ms {measured_label(profile)}, 10th to 90th percentile."
        )
    notes += _host_facts(profile)
    if profile.digest is not None:
        notes.append(
            f"Actions {profile.digest.actions[:12]}, rewards {profile.digest.rewards[:12]}: "
            f"{_agreement(profile)}."
        )
    if profile.time.modelled_ms_per_step is not None:
        notes.append(
            f"Figures marked {modelled_label(profile)} are computed for that device, not measured on it."
        )
    return Section(title="About this run", notes=tuple(notes))


def _host_facts(profile: Profile) -> Iterator[str]:
    own, outside = profile.time.own, profile.time.outside
    if own is not None:
        yield (
            f"Own code takes {figures.duration(own.low_ms)} to {figures.duration(own.high_ms)} ms per "
            f"{profile.rate_noun}: {_how_known(own)}."
        )
    if outside is not None:
        before, between, after = (
            figures.duration(value / 1e3)
            for value in (outside.before_ms, outside.between_ms, outside.after_ms)
        )
        yield f"In no step, recorded: {before} s before the first, {between} s between, {after} s after."


def _how_known(own: OwnTime) -> str:
    if own.source == "watched":
        return f"watched in {figures.noun(own.steps, 'step')}, first calls left out where there are enough"
    if own.source == "sampled":
        return f"watched in {figures.noun(own.steps, 'stretch')} of the run"
    return "what the recorder's own cost leaves of the time between operations"


def _agreement(profile: Profile) -> str:
    if profile.time.measured_ms_per_step is None:
        return "no clean run to compare with"
    is_perturbed = profile.digest is not None and profile.digest.is_perturbed
    return "not those of the clean run" if is_perturbed else "the same as in the clean run"


def _unknown(profile: Profile) -> tuple[str, ...]:
    if not profile.unknown_ops:
        return ()
    names = ", ".join(profile.unknown_ops[:10])
    more = f" and {len(profile.unknown_ops) - 10} more" if len(profile.unknown_ops) > 10 else ""
    return (f"Operations the rules do not know, counted as one launch each: {names}{more}.",)


def _rate(profile: Profile, key: str) -> str:
    return figures.number(profile.per_step.get(key, 0.0))


def _duration(value: float | None) -> str:
    return NOTHING if value is None else figures.duration(value)
