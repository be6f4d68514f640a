"""How far the plan has come: profiles of one program with ever more of its steps switched on."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from syncprobe.analysis.compare import SCENARIO
from syncprobe.rendering.html.charts import Chart, Form, Series
from syncprobe.rendering.summary import measured_label, modelled_label, variant_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.analysis.model import Profile

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


def progress_charts(prefix: str, levels: Sequence[Profile]) -> Iterator[Chart]:
    """Events, bytes and time at every level, per step."""
    last = levels[-1]
    for title, key in RATES.items():
        values = tuple(level.per_step.get(key, 0.0) for level in levels)
        yield _chart(levels, f"{prefix}-{key}", title, title, {title: values})
    yield _chart(
        levels,
        f"{prefix}-bytes",
        "bytes moved",
        "bytes",
        {
            name: tuple(level.per_step.get(key, 0.0) for level in levels)
            for name, key in BYTES.items()
        },
    )
    modelled = tuple(level.time.modelled_ms_per_step for level in levels)
    if any(modelled):
        label = f"time, {modelled_label(last)}"
        yield _chart(levels, f"{prefix}-modelled", label, "ms", {modelled_label(last): modelled})
    measured = tuple(_median(level) for level in levels)
    if any(measured):
        label = f"median time, {measured_label(last)}"
        yield _chart(levels, f"{prefix}-measured", label, "ms", {measured_label(last): measured})


def _median(profile: Profile) -> float | None:
    spread = profile.time.measured_ms_per_step
    return None if spread is None else spread.median


def _chart(
    levels: Sequence[Profile],
    identity: str,
    title: str,
    unit: str,
    values: dict[str, tuple[float | None, ...]],
) -> Chart:
    colours = ("after", "before")
    return Chart(
        id=identity,
        title=f"{title[0].upper()}{title[1:]} per {levels[-1].rate_noun}",
        unit=unit,
        labels=tuple(variant_name(level.run.patches) for level in levels),
        series=tuple(
            Series(name=name, values=figures, colour=colour)
            for (name, figures), colour in zip(values.items(), colours, strict=False)
        ),
        form=Form.COLUMNS,
        is_stacked=True,
        label_title="plan steps",
    )
