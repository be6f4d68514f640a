"""The evidence below the first screen, as titled tables that any format can lay out."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.rendering import figures
from syncprobe.rendering.summary import measured_label, modelled_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from syncprobe.analysis.model import Finding, Profile, Site, SourceLine

NOTHING: Final = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """How one column of a table behaves."""

    title: str
    is_name: bool = False
    """Holds names, not figures: aligned to the left."""
    minimum: int | None = None
    """May be shortened to this width where there is no room; None never is."""
    is_path: bool = False
    """Is shortened from the left: the file and the line matter most."""
    is_code: bool = False
    """Holds names from source code, for formats that set them apart."""
    is_optional: bool = False
    """May be left out where there is no room."""
    is_modelled: bool = False
    """Is left out where no time was modelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One table with what there is to say about it."""

    title: str
    columns: tuple[Column, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    is_listing: bool = False
    """The rows are lines of source, which make sense only together."""


DONE: Final = ("syncs", "copies", "launches")
LISTING: Final = (
    Column(title="us"),
    Column(title="hits"),
    *(Column(title=title) for title in DONE),
    Column(title="line"),
    Column(title="source", is_name=True, is_code=True, minimum=30),
)
LISTING_NOTE: Final = "Times by line are line_profiler's, which slows a program down: good for shares, not for totals."
LINE: Final = Column(title="line", is_name=True, is_code=True, is_path=True, minimum=24)


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
    if profile.findings:
        yield _findings(profile)
    if profile.sites:
        yield _sites(profile)
    yield from _listings(profile)
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


def _findings(profile: Profile) -> Section:
    dearest_first = sorted(
        profile.findings, key=lambda finding: (finding.is_allowed, -finding.cost_us_modelled)
    )
    advice = {finding.rule: finding for finding in dearest_first}
    return Section(
        title=f"Findings, per {profile.rate_noun}{_costs(profile)}",
        columns=(
            Column(title="rule", is_name=True, minimum=5),
            LINE,
            Column(title="what", is_name=True, minimum=20),
            Column(title="count"),
            Column(title="us", is_modelled=True),
            Column(title="plan step"),
        ),
        rows=tuple(_finding_row(finding) for finding in dearest_first),
        notes=tuple(f"{rule}: {advice[rule].advice}" for rule in sorted(advice)),
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
        str(finding.plan_step),
    )


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


def _listings(profile: Profile) -> Iterator[Section]:
    """Hot functions line by line, the dearest first."""
    functions: defaultdict[tuple[str, str], list[SourceLine]] = defaultdict(list)
    for line in profile.lines:
        functions[line.site.path, line.site.function].append(line)
    done = _done_by_line(profile)
    dearest_first = sorted(
        functions.items(), key=lambda item: -sum(line.measured_us_per_step for line in item[1])
    )
    for place, ((path, function), lines) in enumerate(dearest_first):
        yield Section(
            title=f"{function} in {path}, per {profile.rate_noun}, us {measured_label(profile)}",
            columns=LISTING,
            rows=tuple(_listing_row(line, done[line.site.path, line.site.line]) for line in lines),
            notes=(LISTING_NOTE,) if place == len(dearest_first) - 1 else (),
            is_listing=True,
        )


def _done_by_line(profile: Profile) -> Mapping[tuple[str, int], Mapping[str, float]]:
    """Syncs, copies and launches per step, by line."""
    done: defaultdict[tuple[str, int], dict[str, float]] = defaultdict(
        lambda: dict.fromkeys(DONE, 0.0)
    )
    for site in profile.sites:
        here = done[site.site.path, site.site.line]
        if site.is_blocking:
            here["syncs"] += site.per_step
        if site.kind in {EventKind.COPY_TO_HOST, EventKind.COPY_TO_DEVICE}:
            here["copies"] += site.per_step
        if site.kind is EventKind.LAUNCH:
            here["launches"] += site.per_step
    return done


def _listing_row(line: SourceLine, done: Mapping[str, float]) -> tuple[str, ...]:
    return (
        figures.duration(line.measured_us_per_step) if line.measured_us_per_step else "",
        *(figures.number(rate) if rate else "" for rate in (line.hits_per_step, *done.values())),
        str(line.site.line),
        line.text.replace("\t", "    "),
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
