"""Two variants side by side, as sentences and tables that any format can lay out."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from syncprobe.profiles.quantities import BYTES
from syncprobe.profiles.titles import has_variants, title_of, variant_name
from syncprobe.registry import Registry
from syncprobe.rendering import Page, figures, markdown
from syncprobe.rendering.labels import measured_label, modelled_label
from syncprobe.rendering.tables import LINE, NOTHING, Column, Section
from syncprobe.rendering.variants import comment, comparison_json, own_code
from syncprobe.rendering.variants.ratios import measured_ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from syncprobe.comparison.ratio import Speedup
    from syncprobe.comparison.side_by_side import Change, Comparison
    from syncprobe.profiles.model import Ceiling, Profile, Site

MAX_LINES: Final = 12
ALWAYS_SHOWN: Final = "syncs"
SHOWN_IF_CHANGED: Final = ("launch", "conversion", *BYTES)
MORE: Final = "Times, regions, all lines and ceilings: --full."
FIGURES: Final = (
    Column(title="", is_name=True, minimum=16),
    Column(title="before"),
    Column(title="after"),
    Column(title="factor"),
)


def render_console(comparison: Comparison, page: Page | None = None) -> str:
    """For a terminal: the answer comes last, and on one screen unless all is asked for."""
    from syncprobe.rendering import console  # rich takes time to load

    page = page or Page()
    same, *rest = headlines(comparison)
    return console.render_answer(
        title(comparison),
        lambda most: sections(comparison) if page.is_full else _brief(comparison, most),
        (*rest, *(() if page.is_full else (MORE,)), same),
        page,
    )


def render_markdown(comparison: Comparison, _page: Page | None = None) -> str:
    """For a pull request."""
    return markdown.render_sections(
        title(comparison), tuple(headlines(comparison)), sections(comparison)
    )


def render_comment(comparison: Comparison, _page: Page | None = None) -> str:
    """For a pull request, in one screen."""
    return comment.render(title(comparison), comparison)


def render_json(comparison: Comparison, _page: Page | None = None) -> str:
    """All there is, for machines."""
    return json.dumps(comparison_json.to_json(comparison), indent=1, allow_nan=False) + "\n"


COMPARISON_FORMATS: Registry[Callable[..., str]] = Registry("comparison format")
COMPARISON_FORMATS.add("console", render_console)
COMPARISON_FORMATS.add("md", render_markdown)
COMPARISON_FORMATS.add("json", render_json)
COMPARISON_FORMATS.add("comment", render_comment)


def title(comparison: Comparison) -> str:
    """What was compared."""
    names = [_name(profile) for profile in (comparison.before, comparison.after)]
    subject = title_of(replace(comparison.after.run, agent=None), names_variant=False)
    return f"{' and '.join(names)}: {subject}"


def _name(profile: Profile) -> str:
    run = profile.run
    if has_variants(run):
        return f"{run.agent or run.target} {variant_name(run.patches)}"
    return run.revision or run.target


def headlines(comparison: Comparison) -> Iterator[str]:
    """Whether it is the same, and how much faster."""
    verdict = comparison.verdict
    yield f"Equivalence: {'not checked' if verdict is None else verdict.summary}."
    if verdict is not None:
        yield from verdict.remarks
    yield from own_code.sentences(comparison)
    yield _modelled(comparison)
    yield _measured(comparison)


def sections(comparison: Comparison) -> Iterator[Section]:
    """Everything worth showing, in the order people look for it."""
    yield _rates(comparison)
    if comparison.verdict is not None and comparison.verdict.differences:
        yield Section(title="What differs", notes=comparison.verdict.differences)
    yield _times(comparison)
    yield _regions(comparison)
    yield _sites("Sites that are gone", comparison.before, comparison.disappeared)
    yield _sites("Sites that are new", comparison.after, comparison.appeared)
    yield _ceilings(comparison)


def _brief(comparison: Comparison, most: int) -> Iterator[Section]:
    """What changed: events, and the lines that are gone or new, those that sync if there are any."""
    rates = _rates(comparison)
    changed = [
        row
        for row, change in zip(rates.rows, comparison.rates, strict=True)
        if change.name == ALWAYS_SHOWN
        or (change.name in SHOWN_IF_CHANGED and change.before != change.after)
    ]
    yield replace(rates, rows=tuple(changed))
    if comparison.verdict is not None and comparison.verdict.differences:
        yield Section(title="What differs", notes=comparison.verdict.differences[:most])
    for what, profile, sites in (
        ("gone", comparison.before, comparison.disappeared),
        ("new", comparison.after, comparison.appeared),
    ):
        syncs = tuple(site for site in sites if site.is_blocking)
        if syncs:
            yield _sites(f"Syncs that are {what}", profile, syncs, most)
        elif sites:
            yield _sites(f"Sites that are {what}", profile, sites, most)


def _measured(comparison: Comparison) -> str:
    speedup = comparison.speedup
    if speedup is None:
        return "Measured: not timed in turns, so no ratio is given."
    return (
        f"{figures.capital(measured_label(comparison.after))}, in turns: "
        f"{figures.duration(speedup.before_ms)} ms, then {figures.duration(speedup.after_ms)} ms per "
        f"{comparison.after.rate_noun} (medians of {figures.noun(speedup.ratio.rounds, 'round')}): "
        f"{measured_ratio(speedup.ratio)}."
    )


def _modelled(comparison: Comparison) -> str:
    first, second = (
        profile.time.modelled_ms_per_step for profile in (comparison.before, comparison.after)
    )
    if not first or not second:
        return "Modelled: no time was modelled for both."
    return (
        f"{figures.capital(modelled_label(comparison.after))}: {figures.duration(first)} ms, then "
        f"{figures.duration(second)} ms per {comparison.after.rate_noun}: "
        f"{figures.faster(first / second)}."
    )


def _rates(comparison: Comparison) -> Section:
    noun = comparison.after.rate_noun
    rows = []
    for change in comparison.rates:
        show = figures.nbytes if change.name in BYTES else figures.number
        rows.append(_row(change.name.replace("_", " "), change, show))
    return Section(title=f"Events per {noun}", columns=FIGURES, rows=tuple(rows))


def _times(comparison: Comparison) -> Section:
    speedup = comparison.speedup
    labels = {
        "measured_ms_per_step": f"{measured_label(comparison.after)}, median step, ms",
        "modelled_ms_per_step": f"{modelled_label(comparison.after)}, ms",
        "device_busy": "device busy, modelled",
    }
    rows = []
    for change in comparison.time:
        if change.name == "measured_ms_per_step" and speedup is not None:
            rows.append(_in_turns(comparison.after, speedup))
            continue
        is_share = change.name == "device_busy"
        show = figures.percent if is_share else figures.duration
        row = _row(labels[change.name], change, show)
        rows.append((*row[:-1], NOTHING) if is_share else row)
        if change.name == "modelled_ms_per_step":
            rows += own_code.rows(comparison)
    return Section(
        title=f"Time per {comparison.after.rate_noun}",
        columns=FIGURES,
        rows=tuple(rows),
    )


def _in_turns(after: Profile, speedup: Speedup) -> tuple[str, ...]:
    """The figures of the headline: one statistic, wherever it is shown."""
    times = (figures.duration(each) for each in (speedup.before_ms, speedup.after_ms))
    name = f"{measured_label(after)}, median round, ms"
    return (name, *times, figures.speedup(speedup.ratio.median))


def _regions(comparison: Comparison) -> Section:
    columns = [Column(title="region", is_name=True, minimum=8)]
    for what in ("syncs", "launches", "measured ms", "modelled ms"):
        columns += [Column(title=what), Column(title="after")]
    rows = []
    for region in comparison.regions:
        counts = (region.syncs, region.launches)
        times = (region.measured_ms, region.modelled_ms)
        cells = [region.name]
        for change in counts:
            cells += _pair(change, figures.number)
        for change in times:
            cells += _pair(change, figures.duration)
        rows.append(tuple(cells))
    return Section(
        title=f"Regions, per {comparison.after.rate_noun}", columns=tuple(columns), rows=tuple(rows)
    )


def _sites(name: str, profile: Profile, sites: tuple[Site, ...], most: int = MAX_LINES) -> Section:
    """Lines with all they do of one kind, dearest first."""
    lines: defaultdict[tuple[str, str], list[Site]] = defaultdict(list)
    for site in sites:
        lines[figures.place(site.site), str(site.kind)].append(site)
    rows = [
        (
            *key,
            figures.number(sum(site.per_step for site in group)),
            sum(site.host_us_modelled for site in group),
        )
        for key, group in lines.items()
    ]
    rows.sort(key=lambda row: (-row[-1], row))
    more = len(rows) - most
    return Section(
        title=f"{name}: {figures.noun(len(rows), 'line')}",
        columns=(
            LINE,
            Column(title="kind", is_name=True, minimum=5),
            Column(title=f"per {profile.rate_noun}"),
            Column(title=f"us {modelled_label(profile)}"),
        ),
        rows=tuple((*row[:-1], figures.duration(row[-1])) for row in rows[:most]),
        notes=(f"… and {more:,} more; --json has them all.",) if more > 0 else (),
    )


def _ceilings(comparison: Comparison) -> Section:
    """What would be gained if something cost nothing, before and after."""
    before, after = (
        {ceiling.what: ceiling for ceiling in profile.ceiling}
        for profile in (comparison.before, comparison.after)
    )
    rows = tuple(
        (what, *_ceiling(before.get(what)), *_ceiling(after.get(what)))
        for what in dict.fromkeys([*before, *after])
    )
    return Section(
        title="Ceilings, modelled: share of the step, and how many times faster without it",
        columns=(
            Column(title="what", is_name=True, minimum=24),
            Column(title="before"),
            Column(title="without it"),
            Column(title="after"),
            Column(title="without it"),
        ),
        rows=rows,
    )


def _ceiling(ceiling: Ceiling | None) -> tuple[str, str]:
    if ceiling is None:
        return NOTHING, NOTHING
    return figures.percent(ceiling.share), figures.speedup(ceiling.speedup_if_free)


def _row(name: str, change: Change, show: Callable[[float], str]) -> tuple[str, ...]:
    factor = NOTHING if change.factor is None else figures.speedup(change.factor)
    return (name, *_pair(change, show), factor)


def _pair(change: Change, show: Callable[[float], str]) -> tuple[str, str]:
    first, second = (
        NOTHING if value is None else show(value) for value in (change.before, change.after)
    )
    return first, second
