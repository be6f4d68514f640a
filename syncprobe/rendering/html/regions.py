"""Where time and syncs are, region by region: of one profile, or of two side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from syncprobe.profiles.model import SyncClass
from syncprobe.profiles.titles import variant_name
from syncprobe.rendering.answer.worth import sync_classes
from syncprobe.rendering.html.charts import Chart, Series
from syncprobe.rendering.labels import measured_label, modelled_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from syncprobe.profiles.model import Profile, Region

    Reading = Callable[[Region], float | None]

MAX_REGIONS: Final = 12
MEANS: Final = "Means over the steps: they add up, also where a region is not in every step."


def region_charts(prefix: str, profile: Profile) -> Iterator[Chart]:
    """Where one profile's time and syncs are, by region."""
    names, note = _names((profile,))
    series = tuple(_time_series(profile, names))
    if names and series:
        title = f"Time by region, per {profile.rate_noun}"
        yield Chart(
            id=f"{prefix}-time",
            title=title,
            unit="ms",
            labels=names,
            series=series,
            note=f"{note} {MEANS}".strip() if profile.run.steps else note,
        )
    if names:
        yield _syncs_by_class(prefix, profile, names, note)


def paired_region_charts(prefix: str, before: Profile, after: Profile) -> Iterator[Chart]:
    """Two profiles side by side, by region: measured time, modelled time, syncs."""
    names, note = _names((before, after))
    readings: tuple[tuple[str, str, str, Reading], ...] = (
        ("measured", f"Time by region, {measured_label(after)}", "ms", _measured_ms),
        ("modelled", f"Time by region, {modelled_label(after)}", "ms", _modelled_ms),
        ("syncs", "Syncs by region", "syncs", _syncs),
        ("launches", "Launches by region", "launches", _launches),
    )
    for key, title, unit, read in readings:
        series = tuple(
            Series(name=name, values=_values(profile, names, read), colour=colour)
            for name, profile, colour in _named(before, after)
        )
        if any(value for each in series for value in each.values):
            full = f"{title}, per {after.rate_noun}"
            yield Chart(
                id=f"{prefix}-{key}", title=full, unit=unit, labels=names, series=series, note=note
            )


def _time_series(profile: Profile, names: Sequence[str]) -> Iterator[Series]:
    """Measured and modelled time, as far as there is any."""
    readings: tuple[tuple[str, str, Reading], ...] = (
        ("measured", measured_label(profile), _measured_ms),
        ("modelled", modelled_label(profile), _modelled_ms),
    )
    for colour, label, read in readings:
        values = _values(profile, names, read)
        if any(value is not None for value in values):
            yield Series(name=label, values=values, colour=colour)


def _measured_ms(region: Region) -> float | None:
    return region.measured_ms_per_step


def _modelled_ms(region: Region) -> float | None:
    return region.modelled_ms_per_step


def _syncs(region: Region) -> float | None:
    return region.per_step.get("syncs")


def _launches(region: Region) -> float | None:
    return region.per_step.get("launch")


def _named(before: Profile, after: Profile) -> tuple[tuple[str, Profile, str], ...]:
    names = [variant_name(profile.run.patches) for profile in (before, after)]
    if names[0] == names[1]:
        names = ["before", "after"]
    return ((names[0], before, "before"), (names[1], after, "after"))


def _names(profiles: Sequence[Profile]) -> tuple[tuple[str, ...], str]:
    """The regions that matter most, in the order of the step, and a word on those left out."""
    names = list(dict.fromkeys(name for profile in profiles for name in profile.regions))
    if len(names) <= MAX_REGIONS:
        return tuple(names), ""
    weights = {name: sum(_weight(profile, name) for profile in profiles) for name in names}
    kept = set(sorted(names, key=lambda name: -weights[name])[:MAX_REGIONS])
    note = f"The {MAX_REGIONS} largest of {len(names):,} regions."
    return tuple(name for name in names if name in kept), note


def _weight(profile: Profile, name: str) -> float:
    region = profile.regions.get(name)
    if region is None:
        return 0.0
    return region.modelled_ms_per_step or region.measured_ms_per_step or 0.0


def _values(profile: Profile, names: Sequence[str], read: Reading) -> tuple[float | None, ...]:
    regions: Mapping[str, Region] = profile.regions
    return tuple(read(regions[name]) if name in regions else None for name in names)


def _syncs_by_class(prefix: str, profile: Profile, names: Sequence[str], note: str) -> Chart:
    classes = [
        sync_classes(
            replace(profile, sites=tuple(site for site in profile.sites if site.region == name))
        )
        for name in names
    ]
    return Chart(
        id=f"{prefix}-syncs",
        title=f"Syncs by region, per {profile.rate_noun}",
        unit="syncs",
        labels=tuple(names),
        series=tuple(
            Series(
                name=str(kind),
                values=tuple(round(rates[kind], 6) for rates in classes),
                colour=str(kind),
            )
            for kind in SyncClass
        ),
        is_stacked=True,
        note=note,
    )
